/**
 * The option `--since` of commands that read the audit trail.
 *
 * @module
 */
const DAY_MS = 86_400_000;
const UNIT_MS = { d: DAY_MS, h: 3_600_000, m: 60_000 } as const;

/** Milliseconds since the epoch. */
export const SINCE_OPTION = {
  value: "TIME",
  summary: "only from this time on: 2026-11-30, 2026-11-30T12:00:00Z, or 2d, 3h, 10m ago",
  parse: (text: string): number | undefined => readTime(text),
  expected: "a date, a time in UTC, or a number with d, h or m",
} as const;

function readTime(text: string): number | undefined {
  const ago = /^(\d{1,6})([dhm])$/.exec(text);
  if (ago) return Date.now() - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS];
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
