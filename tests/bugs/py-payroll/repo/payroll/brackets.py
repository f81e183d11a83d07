"""The yearly income tax: brackets, allowances and credits, whole units."""

from fractions import Fraction

# (income of a year from which on, percent of what is above)
BRACKETS = ((0, 0), (12000, 20), (36000, 30), (80000, 45))
CHILD_CREDIT = 600
INSURANCE_PERCENT = Fraction(15, 2)
INSURANCE_CEILING = 60000


def income_tax(income, children=0):
    """The tax of a year, never less than nothing."""
    tax = Fraction(0)
    tops = [start for start, _ in BRACKETS[1:]] + [float("inf")]
    for (start, percent), top in zip(BRACKETS, tops):
        if income > start:
            tax += (min(income, top) - start) * Fraction(percent, 100)
    return max(tax - children * CHILD_CREDIT, 0)


def insurance(income):
    """The employee's share of a year; nothing on what is above a ceiling."""
    return min(income, INSURANCE_CEILING) * INSURANCE_PERCENT / 100
