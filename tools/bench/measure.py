"""Clocks, medians, counted syncs and the description of the machine."""

from __future__ import annotations

import gc
import os
import resource
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final


class SyncCount:
    """How many times this process asked the kernel to make a file durable."""

    def __init__(self) -> None:
        self.total = 0


SYNCS: Final = SyncCount()


def count_syncs() -> None:
    """Count every later ``os.fsync`` and ``os.fdatasync`` in ``SYNCS``; the calls still happen.

    To be called before the package is imported, which may keep a reference to either. A library that
    synchronises in C (SQLite) is not seen.
    """
    real_fsync, real_fdatasync = os.fsync, os.fdatasync

    def fsync(descriptor: int) -> None:
        SYNCS.total += 1
        real_fsync(descriptor)

    def fdatasync(descriptor: int) -> None:
        SYNCS.total += 1
        real_fdatasync(descriptor)

    os.fsync, os.fdatasync = fsync, fdatasync  # type: ignore[assignment]


def seconds(action: Callable[[], object]) -> float:
    """Wall seconds of one call, after a collection so that nobody pays for earlier garbage."""
    gc.collect()
    started = perf_counter()
    action()
    return perf_counter() - started


def percentile_micros(action: Callable[[], object], times: int, warm_up: int = 200) -> tuple[float, float]:
    """The p50 and p99, in microseconds, of ``times`` separately timed calls."""
    for _ in range(warm_up):
        action()
    samples: list[float] = []
    for _ in range(times):
        started = perf_counter()
        action()
        samples.append(perf_counter() - started)
    samples.sort()
    return samples[len(samples) // 2] * 1e6, samples[len(samples) * 99 // 100] * 1e6


def median(values: Sequence[float]) -> float:
    """The median, 0.0 of nothing."""
    return statistics.median(values) if values else 0.0


def peak_rss_mb() -> float:
    """Peak resident memory of this process in MB (Linux reports kilobytes).

    ``VmHWM`` belongs to this program image alone; ``ru_maxrss`` also remembers the parent
    that forked it, so it is only the fallback.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bytes_below(path: Path) -> int:
    """Bytes of a file, or of all files below a directory."""
    if path.is_file():
        return path.stat().st_size
    return sum(item.stat().st_size for item in path.rglob("*") if item.is_file())


def cores() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def disk_kind(directory: Path) -> str:
    """What the directory lies on: kind of block device and file system, and nothing that names a machine."""
    found, best = "unknown disk", -1
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return found
    resolved = str(directory.resolve())
    for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
        device, mount_point, file_system = line.split(" ")[:3]
        inside = resolved == mount_point or resolved.startswith(mount_point.rstrip("/") + "/")
        if inside and len(mount_point) > best:
            best = len(mount_point)
            found = f"{_device_kind(device)} ({file_system})"
    return found


def _device_kind(device: str) -> str:
    name = device.rsplit("/", 1)[-1]
    if not device.startswith("/dev/"):
        return "memory" if device == "tmpfs" else "layered file system"
    if name.startswith(("vd", "xvd")):
        return "virtual block device"
    if name.startswith("nvme"):
        return "NVMe disk"
    rotational = Path("/sys/block") / name.rstrip("0123456789") / "queue" / "rotational"
    if rotational.exists():
        return (
            "rotating disk" if rotational.read_text(encoding="ascii").strip() == "1" else "solid-state disk"
        )
    return "block device"
