from .journal import JournalError, parse_journal
from .ledger import Ledger, StockError

__all__ = ["JournalError", "Ledger", "StockError", "parse_journal"]
