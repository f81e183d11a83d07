"""Pay slips. Amounts are in cents outside, and exact inside."""

from dataclasses import dataclass, field

from .brackets import income_tax, insurance
from .periods import PERIODS, share, yearly

OVERTIME_PERCENT = 150


@dataclass
class Employee:
    name: str
    wage: int            # cents an hour
    hours: int           # a period
    every: str = "month"
    children: int = 0
    deductions: dict = field(default_factory=dict)    # cents a period

    def __post_init__(self):
        if self.every not in PERIODS:
            raise ValueError("paid every %s?" % self.every)


def gross(employee, overtime=0, absent=0):
    if absent > employee.hours:
        raise ValueError("%s was absent for too long" % employee.name)
    plain = employee.wage * (employee.hours - absent)
    return plain + employee.wage * overtime * OVERTIME_PERCENT // 100


def payslip(employee, overtime=0, absent=0):
    """[(what, cents)]; the last one is what is paid out."""
    earned = gross(employee, overtime, absent)
    income = yearly(earned) / 100
    tax = share(income_tax(income, employee.children))
    social = share(insurance(income))
    rows = [("gross", earned),
            ("tax", -round(tax * 100)),
            ("insurance", -round(social * 100))]
    rows += [(what, -cents) for what, cents in employee.deductions.items()]
    left = sum(cents for _, cents in rows)
    if left < 0:
        raise ValueError("nothing is left for %s" % employee.name)
    return rows + [("net", left)]
