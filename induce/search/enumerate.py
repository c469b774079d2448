"""Heuristic search: beams of terms, greedy covers, and repair until nothing improves.

The first hypothesis comes from greedy covering: a beam search grows terms on what is still open,
the best term is taken, and so on. Grading a term by ``cover - e * wrong - size`` with several
emphases ``e`` yields sloppy and pure terms alike; all of them enter one pool. Covers are then
improved by exchanging terms within the pool, by single-literal edits, and by growing the best
replacement for each term, or pair of terms, on what the others leave. Every hypothesis seen is
offered to the common record, so the search can be stopped at any time; when it is not, it ends
once no move improves the best cover.

Nothing here proves anything; the result depends on the input alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from induce.search.bits import Ints, Words
from induce.search.limits import Best, Limits
from induce.search.problem import Hypothesis
from induce.search.table import Indices, Table
from induce.search.term_pool import Members, Pool

EMPHASES = (2, 1, 4, 8)
"""Weights of wrongly covered fails, in halves."""
NARROW, WIDE = 24, 400
EFFORT = 20_000_000
"""Word operations allowed for a beam level; sets its width between NARROW and WIDE."""
CHUNK = 1 << 16


class Heuristic:
    """Fills ``best`` with good hypotheses of ``table``; ``pool`` keeps the terms it met."""

    def __init__(self, table: Table, best: Best, limits: Limits) -> None:
        self.table = table
        self.best = best
        self.limits = limits
        self.pool = Pool(table)
        per_row = table.literals * (len(table.passing.used) + len(table.failing.used))
        self.width = max(NARROW, min(WIDE, EFFORT // max(1, per_row)))
        self.repair_width = max(NARROW, self.width // 4)
        self._grown: dict[tuple[bytes, bytes, int, int], tuple[int, Members] | None] = {}

    def quick(self) -> None:
        """A first hypothesis: single literals, narrow greedy covers and exchanges among their terms."""
        self.singles()
        for emphasis in EMPHASES[:2]:
            self._greedy([], emphasis, NARROW)
        self.exchange([])

    def mine(self) -> list[list[Members]]:
        """Greedy covers of every emphasis; what they are grown from fills the pool."""
        return [self._greedy([], emphasis, self.width) for emphasis in EMPHASES]

    def run(self) -> None:
        """Greedy covers, then repair; raises LimitReachedError when a limit is reached first."""
        starts = self.mine()
        done: set[frozenset[Members]] = set()
        final: list[tuple[int, list[Members]]] = []
        for start in [*starts, self.exchange([])]:
            result = self.repair(start)
            key = frozenset(result)
            if key not in done:
                done.add(key)
                final.append((self.table.total(result), result))
        cost, current = min(final)
        while True:
            for kept in self._without_pair(current):
                rebuilt = self.repair(self._greedy(kept, EMPHASES[0], self.repair_width))
                rebuilt_cost = self.table.total(rebuilt)
                if rebuilt_cost < cost:
                    cost, current = rebuilt_cost, rebuilt
                    break
            else:
                return

    def singles(self) -> None:
        """Offer the best hypotheses of one literal."""
        table = self.table
        self.limits.spend(1)
        every = table.passing.weight_of(table.passing.used)
        total = table.cost + table.failing.weigh(table.failing.words) + every
        total -= table.passing.weigh(table.passing.words)
        for literal in np.argsort(total, kind="stable")[:4]:
            self.offer([(int(literal),)])

    def know(self, hypothesis: Hypothesis) -> None:
        """Take the terms of a hypothesis into the pool, those that the table has."""
        place = {int(literal): at for at, literal in enumerate(self.table.index)}
        self.pool.add(
            [
                tuple(sorted(place[literal] for literal in term))
                for term in hypothesis
                if all(literal in place for literal in term)
            ]
        )

    def improve(self, terms: list[Members]) -> None:
        """Exchange the terms of a cover, and repair it, while that makes it the best."""
        if terms:
            better = self.exchange(terms)
            if self.table.total(better) == self.best.cost:
                self.repair(better)

    def offer(self, terms: Sequence[Members]) -> None:
        """Let `best` keep a cover, if it is one."""
        if terms:
            self.best.offer(self.table.original(terms), self.table.total(terms))

    def _open(self, terms: Sequence[Members]) -> tuple[Words, Words]:
        """Passing and failing bits that the terms leave open."""
        open_pass, open_fail = self.table.passing.used.copy(), self.table.failing.used.copy()
        for term in terms:
            term_pass, term_fail = self.table.cover(term)
            open_pass &= ~term_pass
            open_fail &= ~term_fail
        return open_pass, open_fail

    def _greedy(self, kept: list[Members], emphasis: int, width: int) -> list[Members]:
        terms = list(kept)
        while len(terms) < self.table.max_terms:
            grown = self._grow(*self._open(terms), emphasis, width)
            if grown is None or (grown[0] <= 0 and terms):
                break
            terms.append(grown[1])
            self.offer(terms)
        return terms

    def _grow(
        self, open_pass: Words, open_fail: Words, emphasis: int, width: int
    ) -> tuple[int, Members] | None:
        """Beam search for a term on what is open, grown once for each question: (score, term)."""
        question = (open_pass.tobytes(), open_fail.tobytes(), emphasis, width)
        if question not in self._grown:
            self._grown[question] = self.beam(open_pass, open_fail, emphasis, width)
        return self._grown[question]

    def beam(
        self, open_pass: Words, open_fail: Words, emphasis: int, width: int, first: int | None = None
    ) -> tuple[int, Members] | None:
        """Grow terms on what is open into the pool; the best of them with its score.

        Each length keeps the best ``width`` terms, the first length the best ``first``.
        """
        table = self.table
        passed = table.passing.words & open_pass[:, None]
        failed = table.failing.words & open_fail[:, None]
        members: Indices = np.zeros((1, 0), dtype=np.intp)
        rows_pass, rows_fail = open_pass[:, None], open_fail[:, None]
        size = np.zeros(1, dtype=np.int64)
        best: tuple[int, Members] | None = None
        for length in range(table.max_literals):
            kept = width if first is None or length else first
            level = self._level(passed, failed, rows_pass, rows_fail, size, members, emphasis, kept)
            if level is None:
                break
            score, members, rows_pass, rows_fail, size = level
            self.pool.add([tuple(sorted(map(int, row))) for row in members])
            top = (int(score[0]), tuple(sorted(map(int, members[0]))))
            if best is None or top[0] > best[0]:
                best = top
        return best

    def _level(
        self,
        passed: Words,
        failed: Words,
        rows_pass: Words,
        rows_fail: Words,
        size: Ints,
        members: Indices,
        emphasis: int,
        width: int,
    ) -> tuple[Ints, Indices, Words, Words, Ints] | None:
        """The best ``width`` extensions of the rows, best first."""
        table = self.table
        n = table.literals
        top = _Top(width * 2)
        step = max(1, CHUNK // n)
        for start in range(0, len(size), step):
            part = slice(start, start + step)
            self.limits.spend(len(size[part]))
            cover = table.passing.cross(rows_pass[:, part], passed)
            wrong = table.failing.cross(rows_fail[:, part], failed)
            gain = cover
            gain -= size[part, None]
            gain -= table.cost[None, :]
            gain *= 2
            if members.shape[1]:
                before = table.failing.weigh(rows_fail[:, part])
                np.copyto(gain, -(1 << 60), where=wrong >= before[:, None])
            wrong *= emphasis
            gain -= wrong
            top.add(gain, start * n)
        chosen = top.ranked()
        seen: dict[bytes, None] = {}
        kept: list[tuple[int, int]] = []
        flat = np.array([place for _, place in chosen], dtype=np.intp)
        if len(flat) == 0:
            return None
        row, column = np.divmod(flat, n)
        new_pass, new_fail = rows_pass[:, row] & passed[:, column], rows_fail[:, row] & failed[:, column]
        for at, (score, _) in enumerate(chosen):
            coverage = new_pass[:, at].tobytes() + new_fail[:, at].tobytes()
            if coverage not in seen:
                seen[coverage] = None
                kept.append((score, at))
            if len(kept) >= width:
                break
        at_index = np.array([at for _, at in kept], dtype=np.intp)
        row, column = row[at_index], column[at_index]
        return (
            np.array([score for score, _ in kept], dtype=np.int64),
            np.concatenate([members[row], column[:, None]], axis=1),
            new_pass[:, at_index],
            new_fail[:, at_index],
            size[row] + table.cost[column],
        )

    def exchange(self, terms: list[Members]) -> list[Members]:
        """Insert, replace and remove terms of the pool while the cost falls."""
        current, cost = list(terms), self.table.total(terms)
        improved = True
        while improved:
            improved = False
            for kept in self._neighbours(current):
                candidate = self._complete(kept)
                candidate_cost = self.table.total(candidate)
                if candidate and candidate_cost < cost:
                    current, cost, improved = candidate, candidate_cost, True
                    self.offer(current)
                    break
        return current

    def _neighbours(self, terms: list[Members]) -> Iterator[list[Members]]:
        """The cover itself where it has room, then with each term taken out."""
        if len(terms) < self.table.max_terms:
            yield terms
        for place in range(len(terms)):
            yield terms[:place] + terms[place + 1 :]

    def _complete(self, kept: list[Members]) -> list[Members]:
        """The kept terms with the best term of the pool, if one helps."""
        passed, failed, size = self.pool.arrays()
        open_pass, open_fail = self._open(kept)
        self.limits.spend(1)
        gain = self.table.passing.weigh(passed & open_pass[:, None]) - size
        gain -= self.table.failing.weigh(failed & open_fail[:, None])
        at = int(np.argmax(gain))
        return [*kept, self.pool.members[at]] if gain[at] > 0 or not kept else kept

    def repair(self, terms: list[Members]) -> list[Members]:
        """Exchange, edit and regrow terms until none of it lowers the cost."""
        current = self.exchange(terms)
        cost = self.table.total(current)
        while True:
            for kept in self._neighbours(current):
                removed = [term for term in current if term not in kept]
                candidate = self._replacement(kept, removed)
                candidate_cost = self.table.total(candidate) if candidate else cost
                if candidate_cost < cost:
                    self.offer(candidate)
                    current = self.exchange(candidate)
                    cost = self.table.total(current)
                    break
            else:
                return current

    def _replacement(self, kept: list[Members], removed: list[Members]) -> list[Members]:
        """The kept terms with the best term grown on what they leave, or an edit of the removed one."""
        open_pass, open_fail = self._open(kept)
        options: list[tuple[int, Members]] = []
        for term in removed:
            options.extend(self._edits(term, open_pass, open_fail))
        grown = self._grow(open_pass, open_fail, 2, self.repair_width)
        if grown is not None:
            options.append(grown)
        if not options:
            return kept
        score, term = max(options, key=lambda option: option[0])
        return [*kept, term] if score > 0 or not kept else kept

    def _edits(self, term: Members, open_pass: Words, open_fail: Words) -> Iterator[tuple[int, Members]]:
        """The best extension, and for each literal the best exchange and the plain omission."""
        table = self.table
        bases = [term] if len(term) < table.max_literals else []
        bases += [term[:place] + term[place + 1 :] for place in range(len(term))]
        for base in bases:
            self.limits.spend(1)
            base_pass, base_fail = open_pass.copy(), open_fail.copy()
            if base:
                term_pass, term_fail = table.cover(base)
                base_pass &= term_pass
                base_fail &= term_fail
            size = int(table.cost[list(base)].sum())
            if base:
                yield (
                    2 * (table.passing.weight_of(base_pass) - table.failing.weight_of(base_fail) - size),
                    base,
                )
            gain = table.passing.weigh(table.passing.words & base_pass[:, None]) - size - table.cost
            gain -= table.failing.weigh(table.failing.words & base_fail[:, None])
            literal = int(np.argmax(gain))
            if literal not in base:
                yield 2 * int(gain[literal]), tuple(sorted((*base, literal)))

    def _without_pair(self, terms: list[Members]) -> Iterator[list[Members]]:
        """The cover with each two of its terms taken out."""
        for left_out in combinations(range(len(terms)), 2):
            yield [term for place, term in enumerate(terms) if place not in left_out]


class _Top:
    """The highest values of a stream of score matrices with their places."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.floor = -(1 << 59)
        self._values: list[Ints] = []
        self._places: list[Indices] = []

    def add(self, scores: Ints, first: int) -> None:
        """Take in a matrix whose flattened entries have the places ``first``, ``first + 1``, ..."""
        flat = scores.reshape(-1)
        places = np.flatnonzero(flat > self.floor)
        if len(places) == 0:
            return
        self._values.append(flat[places])
        self._places.append(places + first)
        if sum(map(len, self._values)) > self.size:
            values, where = np.concatenate(self._values), np.concatenate(self._places)
            order = np.lexsort((where, -values))[: self.size]
            self._values, self._places = [values[order]], [where[order]]
            self.floor = int(values[order[-1]])

    def ranked(self) -> list[tuple[int, int]]:
        """(value, place), highest first, lower places first among equals."""
        if not self._values:
            return []
        values, where = np.concatenate(self._values), np.concatenate(self._places)
        order = np.lexsort((where, -values))
        return [(int(values[at]), int(where[at])) for at in order]
