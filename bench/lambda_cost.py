"""What renders cost on Lambda, from measured CPU time and public prices, beside a pair of pods that always stands.

Prices in US dollars, us-east-1, as published on the date below; docs/cost.md says what they leave out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PRICES_OF = "29 November 2026"

GIGABYTE_SECOND = {"arm64": 0.0000133334, "x86-64": 0.0000166667}
INVOCATION = 0.20 / 1e6
GATEWAY_REQUEST = 3.50 / 1e6
LOG_GIGABYTE = 0.50
INTERNET_GIGABYTE = 0.09
PRIVATE_ENDPOINT_GIGABYTE = 0.01
SNAPSHOT_CACHE_GIGABYTE_SECOND = 0.0000015046
SNAPSHOT_RESTORE_GIGABYTE = 0.0001397998

POD_VCPUS = 4
POD_HOUR = {"arm64": 0.1450, "x86-64": 0.1785}
"""A machine of 4 vCPUs and 8 GiB, on demand."""

HOURS_IN_MONTH = 730
MEGABYTES_PER_VCPU = 1769
MEMORY_SIZES = (1024, 1769, 3008)


@dataclass(frozen=True, slots=True)
class Measured:
    """One request of a size: CPU milliseconds in the Lambda and in the server path, bytes logged and answered."""

    tokens: int
    lambda_cpu_ms: float
    server_cpu_ms: float
    log_bytes: int
    answer_bytes: int


def billed_ms(cpu_ms: float, memory: int) -> int:
    """The duration that Lambda bills: below 1769 MB a function gets part of a CPU, above it one thread uses one."""
    return math.ceil(cpu_ms / min(1.0, memory / MEGABYTES_PER_VCPU))


def per_million(measured: Measured, memory: int, architecture: str) -> dict[str, float]:
    """Dollars for a million renders, by item."""
    seconds = billed_ms(measured.lambda_cpu_ms, memory) / 1000
    return {
        "duration": 1e6 * seconds * memory / 1024 * GIGABYTE_SECOND[architecture],
        "invocations": 1e6 * INVOCATION,
        "gateway": 1e6 * GATEWAY_REQUEST,
        "logs": 1e6 * measured.log_bytes / 1e9 * LOG_GIGABYTE,
    }


def price_table(sizes: list[Measured]) -> list[str]:
    """Dollars per million renders by prompt size and memory."""
    lines = [
        "| prompt tokens | memory MB | billed ms | duration arm64 | duration x86-64 | invocations | gateway | logs "
        "| sum arm64 | sum x86-64 |",
        "|---" * 10 + "|",
    ]
    for size in sizes:
        for memory in MEMORY_SIZES:
            arm, x86 = (per_million(size, memory, each) for each in GIGABYTE_SECOND)
            lines.append(
                f"| {size.tokens:,} | {memory} | {billed_ms(size.lambda_cpu_ms, memory)} | {arm['duration']:.2f} "
                f"| {x86['duration']:.2f} | {arm['invocations']:.2f} | {arm['gateway']:.2f} | {arm['logs']:.2f} "
                f"| {sum(arm.values()):.2f} | {sum(x86.values()):.2f} |"
            )
    return lines


def transfer_table(sizes: list[Measured]) -> list[str]:
    """What carrying a million answers to the router costs, which the other tables leave out."""
    lines = [
        "| prompt tokens | answer KB | over the internet | through a private endpoint | inside the cluster |",
        "|---" * 5 + "|",
    ]
    for size in sizes:
        gigabytes = size.answer_bytes * 1e6 / 1e9
        lines.append(
            f"| {size.tokens:,} | {size.answer_bytes // 1000} | {gigabytes * INTERNET_GIGABYTE:.2f} "
            f"| {gigabytes * PRIVATE_ENDPOINT_GIGABYTE:.2f} | 0 |"
        )
    return lines


def pods_table(sizes: list[Measured], memory: int = MEGABYTES_PER_VCPU) -> list[str]:
    """From how many renders a month on a pair of pods is cheaper, and how many it could do."""
    lines = [
        "| prompt tokens | Lambda per million | the pair, a month | break-even, renders a month | as renders a second "
        "| the pair's capacity, renders a second |",
        "|---" * 6 + "|",
    ]
    pair = 2 * POD_HOUR["x86-64"] * HOURS_IN_MONTH
    for size in sizes:
        million = sum(per_million(size, memory, "x86-64").values())
        even = pair / million * 1e6
        capacity = 2 * POD_VCPUS * 1000 / size.server_cpu_ms
        lines.append(
            f"| {size.tokens:,} | {million:.2f} | {pair:.0f} | {even / 1e6:.1f} million "
            f"| {even / HOURS_IN_MONTH / 3600:.1f} | {capacity:.0f} |"
        )
    return lines


def start_table(init_ms: float) -> list[str]:
    """What starts cost: the billed initialisation of an environment, or SnapStart's cache and restores."""
    lines = [
        "| memory MB | 1000 starts, x86-64 | SnapStart: 1000 restores | SnapStart: a version, a month |",
        "|---" * 4 + "|",
    ]
    for memory in MEMORY_SIZES:
        gigabytes = memory / 1024
        start = billed_ms(init_ms, memory) * gigabytes * GIGABYTE_SECOND["x86-64"]
        restore = 1000 * gigabytes * SNAPSHOT_RESTORE_GIGABYTE
        month = gigabytes * SNAPSHOT_CACHE_GIGABYTE_SECOND * HOURS_IN_MONTH * 3600
        lines.append(f"| {memory} | {start:.3f} | {restore:.3f} | {month:.2f} |")
    return lines
