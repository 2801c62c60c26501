"""Which instance truncates, where one engine has several because the class was named twice."""

import threading
import weakref


class _Ledger:
    """How often the instances of one engine have truncated."""

    def __init__(self, engine: object) -> None:
        # Kept so that no other object is given its id while the ledger lives.
        self._engine = engine
        self.count = 0


_ledgers: weakref.WeakValueDictionary[tuple[int, str], _Ledger] = weakref.WeakValueDictionary()
_lock = threading.Lock()


class EngineTurns:
    """One instance's turns at truncating.

    Instances are asked one after the other in every step, whatever processors of others stand in
    between and whether these hand on the tensor or a copy. So it is for an instance to truncate if
    no other one has since it was asked before. One that is no longer asked stands in nobody's way.

    Args:
        engine: what the instances of one engine, and no others, are constructed with.
        device: where the logits lie; of two engines with one configuration it tells them apart.
    """

    def __init__(self, engine: object, device: str) -> None:
        with _lock:
            self._ledger = _ledgers.setdefault((id(engine), device), _Ledger(engine))
        self._seen = self._ledger.count

    def take(self) -> bool:
        """Whether it is this instance that has to truncate the logits at hand."""
        ledger = self._ledger
        is_mine = ledger.count == self._seen
        if is_mine:
            ledger.count += 1
        self._seen = ledger.count
        return is_mine
