import unittest

from payroll import Employee, payslip
from payroll.brackets import income_tax, insurance
from payroll.slip import gross


def slip(employee, *args, **more):
    return dict(payslip(employee, *args, **more))


class BracketTest(unittest.TestCase):
    def test_free(self):
        self.assertEqual(income_tax(12000), 0)

    def test_one_bracket(self):
        self.assertEqual(income_tax(20000), 1600)

    def test_all_brackets(self):
        self.assertEqual(income_tax(100000), 4800 + 13200 + 9000)

    def test_children(self):
        self.assertEqual(income_tax(20000, 1), 1000)
        self.assertEqual(income_tax(20000, 5), 0)

    def test_insurance(self):
        self.assertEqual(insurance(40000), 3000)
        self.assertEqual(insurance(90000), 4500)


class GrossTest(unittest.TestCase):
    def test_overtime(self):
        self.assertEqual(gross(Employee("Ann", 2001, 160), overtime=3),
                         2001 * 160 + 9004)

    def test_absent(self):
        self.assertEqual(gross(Employee("Ann", 2000, 160), absent=10), 300000)

    def test_absent_for_too_long(self):
        with self.assertRaises(ValueError):
            gross(Employee("Ann", 2000, 38, "week"), absent=39)


class SlipTest(unittest.TestCase):
    def test_monthly(self):
        self.assertEqual(payslip(Employee("Ann", 2500, 160)), [
            ("gross", 400000), ("tax", -70000), ("insurance", -30000),
            ("net", 300000)])

    def test_weekly(self):
        self.assertEqual(slip(Employee("Bob", 2500, 40, "week")), {
            "gross": 100000, "tax": -18462, "insurance": -7500,
            "net": 74038})

    def test_fortnightly(self):
        self.assertEqual(slip(Employee("Cid", 2000, 76, "fortnight")), {
            "gross": 152000, "tax": -22523, "insurance": -11400,
            "net": 118077})

    def test_children_in_a_week(self):
        one = Employee("Bob", 2500, 40, "week", children=2)
        self.assertEqual(slip(one)["tax"], -16154)

    def test_deductions(self):
        one = Employee("Ann", 2500, 160, deductions={"meals": 8000})
        self.assertEqual(slip(one)["net"], 292000)

    def test_little_is_free_of_tax(self):
        self.assertEqual(slip(Employee("Eve", 1000, 100))["tax"], 0)

    def test_nothing_left(self):
        one = Employee("Eve", 1000, 100, deductions={"rent": 99999})
        with self.assertRaises(ValueError):
            payslip(one)

    def test_no_such_period(self):
        with self.assertRaises(ValueError):
            Employee("Eve", 1000, 100, "day")
