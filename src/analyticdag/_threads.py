"""Threads that do not fight: BLAS gets one while our solvers run, and we use no more than fit.

Our solvers make many small calls to BLAS. With several threads each of them spends more time on
waking the others than on arithmetic; and beside our own threads there are soon more of them than
processors. So BLAS has one thread inside a solver and gets back afterwards what it had.

What BLAS may use is one number for the whole process. Several fits on threads of one process
therefore share one limit: the first to come sets it, the last to leave lifts it. In the same way
they share the processors: a fit gets what the others left over, one thread at least. Libraries that
start processes (joblib, Dask) tell each of them how many threads it may use by the limit on BLAS,
so that limit is ours too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Lock
from typing import Any, Protocol, TypeVar

from joblib import cpu_count, effective_n_jobs

T = TypeVar("T")
U = TypeVar("U")

# How often a waiting thread looks whether it was interrupted, in seconds: ten times within the
# second that an interrupt may take.
LOOK = 0.1


class _Shared:
    """What the fits of this process share: the limit on BLAS, and the threads they use."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.found: Any = None
        self.limiter: Any = None
        self.inside = 0
        self.before = 1  # threads of BLAS outside of our solvers
        self.taken = 0

    def enter(self) -> Any:
        """Limit BLAS, unless another solver did; return the limit of this thread alone."""
        with self.lock:
            blas = self._blas()
            if self.inside == 0:
                pools = blas.info()
                self.before = max((pool["num_threads"] for pool in pools), default=cpu_count())
                _let_this_thread_set(blas)
                self.limiter = blas.limit(limits=1)
            self.inside += 1
            # Built on OpenMP, a library has a limit in every thread: each has to set its own.
            return blas.select(threading_layer="openmp").limit(limits=1)

    def leave(self, own: Any) -> None:
        """Give back what was taken, unless another solver still runs."""
        with self.lock:
            own.restore_original_limits()
            self.inside -= 1
            if self.inside == 0:
                _let_this_thread_set(self._blas())
                self.limiter.restore_original_limits()
                _let_this_thread_set(self._blas())

    def take(self, n_jobs: int | None) -> int:
        """Return how many threads a solver gets; they are its own until given back."""
        with self.lock:
            threads = 1 if n_jobs == 1 else self._left(n_jobs)
            self.taken += threads
            return threads

    def _left(self, n_jobs: int | None) -> int:
        """Return how many threads of those asked for there are; counting them reads files."""
        wanted = int(effective_n_jobs(-1 if n_jobs is None else n_jobs))
        if n_jobs is None:
            wanted = min(wanted, self.before)
        return max(1, min(wanted, int(cpu_count()) - self.taken))

    def give_back(self, threads: int) -> None:
        """End what `take` began."""
        with self.lock:
            self.taken -= threads

    def _blas(self) -> Any:
        """Return the handle on the BLAS libraries; finding them takes milliseconds, once."""
        if self.found is None:
            import scipy.linalg  # noqa: F401 (its BLAS has to be loaded to be found)
            from threadpoolctl import ThreadpoolController

            self.found = ThreadpoolController().select(user_api="blas")
        return self.found


def _let_this_thread_set(blas: Any) -> None:
    """Since threadpoolctl 3.8 one thread only may set a limit, and it need not be this one."""
    for library in blas.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


_shared = _Shared()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run a block with one thread for BLAS; blocks may be nested, and run at the same time."""
    own = _shared.enter()
    try:
        yield
    finally:
        _shared.leave(own)


@contextmanager
def our_threads(n_jobs: int | None) -> Iterator[int]:
    """Say how many threads the block may start: never more than the processors left over.

    `n_jobs` is as in joblib; None stands for as many as BLAS may use outside of our solvers. A
    result must not depend on the answer.
    """
    with one_blas_thread():
        threads = _shared.take(n_jobs)
        try:
            yield threads
        finally:
            _shared.give_back(threads)


class Stoppable(Protocol):
    """A request to end early that work on another thread looks at."""

    asked: bool


def in_threads(
    function: Callable[[T], U], items: Sequence[T], n_jobs: int | None, stop: Stoppable
) -> list[U]:
    """[function(item) for item in items], on up to n_jobs threads (None: as many as there are).

    An interrupt reaches the waiting thread at once; it asks the others to stop and waits for them.
    """

    def with_one_blas_thread(item: T) -> U:
        with one_blas_thread():
            return function(item)

    n_jobs = 1 if len(items) < 2 else n_jobs
    with our_threads(n_jobs) as threads, ThreadPoolExecutor(max_workers=threads) as pool:
        futures = [pool.submit(with_one_blas_thread, item) for item in items]
        try:
            while wait(futures, timeout=LOOK).not_done:
                pass
            return [future.result() for future in futures]
        except BaseException:
            stop.asked = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
