"""The points of a search as a picture."""

from __future__ import annotations

import html
from collections.abc import Sequence

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 36, 20, 56
TICKS = 6


class _Scale:
    """From values to places."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        least, most = min(values), max(values)
        margin = (most - least) * 0.06 or abs(least) * 0.1 or 1.0
        step = _round((most - least + 2 * margin) / TICKS)
        self.ticks = [
            step * number
            for number in range(int((least - margin) // step), int((most + margin) // step) + 2)
        ]
        self.least, self.most = self.ticks[0], self.ticks[-1]
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        share = (value - self.least) / (self.most - self.least)
        return self.start + share * (self.end - self.start)


def _round(step: float) -> float:
    """The next of 1, 2, 5, 10, … that is not less."""
    power = 10.0 ** (len(f"{step:.0f}") - 1) if step >= 1 else 1.0
    while power > step:
        power /= 10
    return next(times * power for times in (1, 2, 5, 10) if times * power >= step)


def draw(
    points: Sequence[tuple[float, float, bool, str]],
    front: Sequence[tuple[float, float]],
    labels: tuple[str, str],
    limits: tuple[float | None, float | None] = (None, None),
) -> str:
    """An SVG of points (x, y, whether they are within limits, what they are) and of their front."""
    across = _Scale([x for x, *_ in points], LEFT, WIDTH - RIGHT)
    up = _Scale([y for _, y, *_ in points], HEIGHT - BOTTOM, TOP)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="sans-serif" font-size="12" '
        'style="max-width:100%;height:auto;background:#fff">'
    )
    parts = [head, *_axes(across, up, labels)]
    for limit, is_across in zip(limits, (True, False), strict=True):
        parts += _limit(limit, across if is_across else up, is_across)
    corners = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in _stairs(front))
    parts.append(f'<polyline points="{corners}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>')
    best = set(front)
    for x, y, within, title in points:
        is_best = (x, y) in best
        fill = "#fff" if not within else "#1f5fa8" if is_best else "#8fb3d9"
        radius = 5 if is_best else 4
        parts.append(
            f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="{radius}" fill="{fill}" '
            f'stroke="#1f5fa8"><title>{html.escape(title)}</title></circle>'
        )
    return "\n".join([*parts, "</svg>"])


def _stairs(front: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of the line that no point passes."""
    corners: list[tuple[float, float]] = []
    for x, y in sorted(front):
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    return corners


def _axes(across: _Scale, up: _Scale, labels: tuple[str, str]) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for tick in across.ticks:
        at = f"{across(tick):.1f}"
        parts.append(f'<line x1="{at}" x2="{at}" y1="{TOP}" y2="{bottom}" stroke="#e4e8ee"/>')
        parts.append(f'<text x="{at}" y="{bottom + 18}" text-anchor="middle">{tick:,.6g}</text>')
    for tick in up.ticks:
        at = f"{up(tick):.1f}"
        parts.append(f'<line x1="{LEFT}" x2="{right}" y1="{at}" y2="{at}" stroke="#e4e8ee"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at}" dy="4" text-anchor="end">{tick:,.6g}</text>')
    middle = (LEFT + right) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{html.escape(labels[0])}</text>'
    )
    parts.append(
        f'<text transform="translate(18 {(TOP + bottom) / 2}) rotate(-90)" '
        f'text-anchor="middle">{html.escape(labels[1])}</text>'
    )
    return parts


def _limit(limit: float | None, scale: _Scale, is_across: bool) -> list[str]:
    if limit is None or not scale.least <= limit <= scale.most:
        return []
    at = f"{scale(limit):.1f}"
    ends = (
        f'x1="{at}" x2="{at}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"'
        if is_across
        else f'x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"'
    )
    return [f'<line {ends} stroke="#b04a2f" stroke-dasharray="6 4"/>']
