"""The parts of the second simulation: a clock, stations, balancers, and what stands around them.

Written from docs/scenarios.md and from what it cites, with Python's standard library alone: nothing here is shared with `sim`,
not even numbers drawn. A part that is asked answers by calling `answer` with whether it ended well, and gives what calls the
request back, if it waits."""

import bisect
import heapq
import itertools
import math
import random


class World:
    """A clock, what will happen, and draws."""

    def __init__(self, seed):
        self.now, self.due, self.order = 0.0, [], itertools.count()
        self.random = random.Random(seed)
        self.count = {"attempts": 0, "asked": 0}

    def after(self, seconds, what):
        heapq.heappush(self.due, (self.now + seconds, next(self.order), what))

    def exp(self, mean):
        return self.random.expovariate(1.0 / mean)

    def play(self, rate, seconds, entry):
        """Requests at that rate for so many seconds: how long each took and whether it ended well."""
        self.end, answers = seconds, []

        def arrive():
            came = self.now
            schedule()
            entry.ask(lambda good: answers.append((self.now - came, good)))

        def schedule():
            gap = self.exp(1.0 / rate)
            if self.now + gap < self.end:
                self.after(gap, arrive)

        schedule()
        while self.due:
            self.now, _, what = heapq.heappop(self.due)
            what()
        return answers


class UpAndDown:
    """Up at first, and then down and up by turns of exponential lengths."""

    def __init__(self, world, up, down):
        self.world, self.means, self.turn, self.until = world, (up, down), 0, world.exp(up)

    def is_up(self):
        while self.until <= self.world.now:
            self.turn = 1 - self.turn
            self.until += self.world.exp(self.means[self.turn])
        return self.turn == 0


class Station:
    """First come, first served; refuses while it is down, and beyond so many who wait."""

    def __init__(self, world, mean, servers=1, most_waiting=math.inf, faults=None):
        self.world, self.mean, self.free = world, mean, servers
        self.most_waiting, self.faults, self.waiting = most_waiting, faults, []

    def ask(self, answer):
        """Gives what calls the request back, if it waits."""
        self.world.count["asked"] += 1
        if self.faults and not self.faults.is_up():
            answer(False)
        elif self.free:
            self.free -= 1
            self.serve(answer)
        elif len(self.waiting) >= self.most_waiting:
            answer(False)
        else:
            ticket = [answer]
            self.waiting.append(ticket)
            return lambda: self.waiting.remove(ticket) if ticket in self.waiting else None
        return None

    def serve(self, answer):
        def done():
            if self.waiting:
                self.serve(self.waiting.pop(0)[0])
            else:
                self.free += 1
            answer(True)

        self.world.after(self.world.exp(self.mean), done)


class Balancer:
    """Hands each request to the station that `choose` says; failures count as outstanding for `hold` more."""

    def __init__(self, world, stations, choose, hold=0.0):
        self.world, self.stations, self.choose, self.hold = world, stations, choose, hold
        self.outstanding = [0] * len(stations)

    def ask(self, answer):
        i = self.choose(self)
        self.outstanding[i] += 1
        handed = self.world.now

        def release():
            self.outstanding[i] -= 1

        def back(good):
            if hasattr(self.choose, "learn"):
                self.choose.learn(i, self.world.now - handed)
            if good or not self.hold:
                release()
            else:
                self.world.after(self.hold, release)
            answer(good)

        call_back = self.stations[i].ask(back)

        def called_back():
            before = len(self.stations[i].waiting)
            call_back()
            if len(self.stations[i].waiting) < before:
                release()

        return called_back if call_back else None


class Told(Balancer):
    """One of several: knows its own requests at once and the others' as of the last exchange, one every `every`, after each of
    which it hands nothing on for `cost`."""

    def __init__(self, world, stations, choose, others, every, cost):
        super().__init__(world, stations, choose)
        self.others, self.told, self.every, self.cost = others, [0] * len(stations), every, cost
        if not others:
            self.exchange(0)
        others.append(self)

    def exchange(self, number):
        """Of all of them, as long as there are requests."""
        for one in self.others:
            one.outstanding = [known - told for known, told in zip(one.outstanding, one.told)]
        for one in self.others:
            rest = [other.outstanding for other in self.others if other is not one]
            one.coming = [sum(counts) for counts in zip(*rest)]
        for one in self.others:
            one.told = one.coming
            one.outstanding = [own + told for own, told in zip(one.outstanding, one.told)]
        if number == 0 or self.world.now < self.world.end:
            self.world.after(self.every, lambda: self.exchange(number + 1))
        self.over = self.world.now + self.cost if number else 0.0

    def ask(self, answer):
        over = self.others[0].over
        if self.world.now < over:
            self.world.after(over - self.world.now, lambda: super(Told, self).ask(answer))
            return None
        return super().ask(answer)


class AnyOf:
    """Hands each request to any of these."""

    def __init__(self, world, inner):
        self.world, self.inner = world, inner

    def ask(self, answer):
        return self.world.random.choice(self.inner).ask(answer)


def anyone(balancer):
    return balancer.world.random.randrange(len(balancer.stations))


def fewest(weights=None, of=None):
    """Who would have the fewest outstanding with one more, divided by the weight, of so many different ones drawn (all, if
    it is not said); ties at random."""

    def choose(balancer):
        n = len(balancer.stations)
        drawn = balancer.world.random.sample(range(n), of or n)
        return min(drawn, key=lambda i: (balancer.outstanding[i] + 1) / (weights[i] if weights else 1.0))

    return choose


class PeakEwma:
    """Finagle's: of two different ones, the less latency x (outstanding + 1). A latency above the average takes its place at once,
    others are averaged in by exp(-age / decay), and so is a zero at each look. With nothing heard but something outstanding
    the cost is beyond all others."""

    def __init__(self, world, n, decay):
        self.world, self.decay = world, decay
        self.average, self.stamp = [0.0] * n, [0.0] * n

    def learn(self, i, latency):
        now = self.world.now
        old = math.exp(-(now - self.stamp[i]) / self.decay)
        self.stamp[i] = now
        self.average[i] = latency if latency > self.average[i] else self.average[i] * old + latency * (1.0 - old)

    def cost(self, i, outstanding):
        self.learn(i, 0.0)
        if self.average[i] == 0.0 and outstanding:
            return 1e15 + outstanding
        return self.average[i] * (outstanding + 1)

    def __call__(self, balancer):
        a, b = self.world.random.sample(range(len(balancer.stations)), 2)
        return a if self.cost(a, balancer.outstanding[a]) <= self.cost(b, balancer.outstanding[b]) else b


def ring(points, n, bound=None, per_station=160):
    """The next point of a ring at or after the user's (each request is another user's); beyond the bound on along the ring."""
    places = sorted((points.random(), i) for i in range(n) for _ in range(per_station))

    def choose(balancer):
        at = bisect.bisect_left(places, (balancer.world.random.random(), -1))
        most = math.ceil(bound * (sum(balancer.outstanding) + 1) / n) if bound else math.inf
        while True:
            owner = places[at % len(places)][1]
            if balancer.outstanding[owner] < most:
                return owner
            at += 1

    return choose


class Retry:
    """Made again up to `attempts` times in all, after uniform(low, 1) x min(base x factor^n, most); what may be spent on it
    grows by `share` with each request, up to `reserve`, with which it begins."""

    def __init__(self, world, inner, attempts, base, factor, most, low, share=None, reserve=0.0):
        self.world, self.inner, self.attempts = world, inner, attempts
        self.wait = lambda n: min(base * factor ** n, most) * world.random.uniform(low, 1.0)
        self.share, self.reserve, self.saved = share, reserve, reserve

    def ask(self, answer):
        if self.share is not None:
            self.saved = min(self.saved + self.share, self.reserve)
        self.attempt(0, answer)

    def attempt(self, n, answer):
        def back(good):
            if good or n + 1 == self.attempts or not self.pay():
                return answer(good)
            self.world.after(self.wait(n), lambda: self.attempt(n + 1, answer))

        self.world.count["attempts"] += 1
        self.inner.ask(back)

    def pay(self):
        if self.share is None:
            return True
        # Shares as 0.1 do not add up to one exactly.
        pays = self.saved >= 1.0 - 1e-9
        self.saved -= pays
        return pays


class Hedge:
    """Made once more after so long, up to `most` times more; the first answer counts. With `cancel` those that wait are called
    back."""

    def __init__(self, world, inner, after, most=1, cancel=True):
        self.world, self.inner, self.after, self.most, self.cancel = world, inner, after, most, cancel

    def ask(self, answer):
        state = {"over": False, "made": 0}
        calls = []

        def back(good):
            if not state["over"]:
                state["over"] = True
                answer(good)
                for call in calls if self.cancel else ():
                    call()

        def attempt():
            if state["over"]:
                return
            self.world.count["attempts"] += 1
            state["made"] += 1
            if state["made"] <= self.most:
                self.world.after(self.after, attempt)
            call = self.inner.ask(back)
            if call:
                calls.append(call)

        attempt()


class Timeout:
    """Given up after so long; with `cancel` one that waits is called back."""

    def __init__(self, world, inner, after, cancel):
        self.world, self.inner, self.after, self.cancel = world, inner, after, cancel

    def ask(self, answer):
        over = []
        call = None

        def end(good):
            if not over:
                over.append(True)
                answer(good)

        def late():
            if not over:
                end(False)
                if self.cancel and call:
                    call()

        call = self.inner.ask(end)
        self.world.after(self.after, late)


class Breaker:
    """Opens when more than `share` of the last `of` that went through failed; after `open_for` the next request finds it half open:
    `probes` at once go through, as many successes close it with nothing counted, a failure opens it anew. What went through
    before a change says nothing after it."""

    def __init__(self, world, inner, share, of, open_for, probes):
        self.world, self.inner, self.limit, self.of = world, inner, share * of, of
        self.open_for, self.probes = open_for, probes
        self.become("closed")

    def become(self, state):
        self.state, self.last, self.under_way, self.successes = state, [], 0, 0
        self.age, self.since = getattr(self, "age", 0) + 1, self.world.now

    def ask(self, answer):
        if self.state == "open" and self.world.now >= self.since + self.open_for:
            self.become("half open")
        if self.state == "open" or self.state == "half open" and self.under_way == self.probes:
            return answer(False)
        self.under_way += 1
        age = self.age

        def back(good):
            if age == self.age:
                self.hear(good)
            answer(good)

        self.inner.ask(back)

    def hear(self, good):
        self.under_way -= 1
        if self.state == "half open":
            self.successes += good
            if not good:
                self.become("open")
            elif self.successes == self.probes:
                self.become("closed")
        else:
            self.last = (self.last + [good])[-self.of:]
            if self.last.count(False) > self.limit:
                self.become("open")
