from .slip import Employee, payslip

__all__ = ["Employee", "payslip"]
