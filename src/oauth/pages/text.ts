/**
 * Inserts values into texts, and writes amounts of time in a language.
 *
 * @module
 */
import { html, Markup } from "../../http/page.ts";
import type { Language } from "./languages.ts";

const PLACEHOLDER = /\{(\w+)\}/g;

/** The text with its `{name}`s replaced. Values that are not Markup are escaped. A name without a value stays. */
export function fill(text: string, values: Readonly<Record<string, string | Markup>>): Markup {
  const parts: Markup[] = [];
  let end = 0;
  for (const { 0: placeholder, 1: name, index } of text.matchAll(PLACEHOLDER)) {
    const value = Object.hasOwn(values, name!) ? values[name!] : placeholder;
    parts.push(html`${text.slice(end, index)}${value}`);
    end = index + placeholder.length;
  }
  parts.push(html`${text.slice(end)}`);
  return new Markup(parts.map((part) => part.text).join(""));
}

/** As {@linkcode fill}, for plain text such as a title. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(
    PLACEHOLDER,
    (placeholder, name) => Object.hasOwn(values, name) ? values[name]! : placeholder,
  );
}

/** `7 days`, `1 Stunde`: in whole days, hours or minutes, the greatest unit of which there are two. */
export function formatDuration(language: Language, seconds: number): string {
  if (seconds >= 2 * 86_400) return formatUnit(language, Math.round(seconds / 86_400), "day");
  if (seconds >= 2 * 3600) return formatUnit(language, Math.round(seconds / 3600), "hour");
  return formatUnit(language, Math.max(1, Math.round(seconds / 60)), "minute");
}

/** How long to wait: in seconds up to two minutes, then in minutes, never too little. */
export function formatWait(language: Language, seconds: number): string {
  return seconds <= 120
    ? formatUnit(language, seconds, "second")
    : formatUnit(language, Math.ceil(seconds / 60), "minute");
}

function formatUnit(language: Language, amount: number, unit: string): string {
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(amount);
}
