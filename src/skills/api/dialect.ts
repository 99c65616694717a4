/**
 * Which API a request uses: three share the same paths, and header fields tell them apart. All differences except the
 * shapes of objects (`shape_*.ts`) are in one table here.
 *
 * @module
 */
import type { LayoutRules } from "../package/layout.ts";
import { shapeGa } from "./shape_ga.ts";
import { shapeOctober2025 } from "./shape_october_2025.ts";
import { shapeOpenai } from "./shape_openai.ts";
import type { Shape } from "./shape.ts";

export interface Dialect {
  readonly name: "ga" | "skills-2025-10-02" | "openai";
  readonly shape: Shape;
  /** Rules for uploads in addition to those of all dialects. */
  readonly rules: LayoutRules;
  /** Labels are unique in a workspace. */
  readonly uniqueTitles: boolean;
  readonly maxTitleCharacters: number;
  /** Versions are listed newest first, unless the request says otherwise. */
  readonly newestFirst: boolean;
  /** Deleting a skill deletes its versions; otherwise it must have none. */
  readonly cascades: boolean;
  /** Which version cannot be deleted on its own. */
  readonly keeps: "last" | "default" | "nothing";
  /** Pages continue after an id from the caller, not with a cursor of the service. */
  readonly pagesById: boolean;
  readonly maxPageItems: number;
}

/** The value of `anthropic-beta` that selects the older shapes. */
export const OLDER_MARKER = "skills-2025-10-02";

const GA: Dialect = {
  name: "ga",
  shape: shapeGa,
  rules: {},
  uniqueTitles: false,
  maxTitleCharacters: 255,
  newestFirst: true,
  cascades: true,
  keeps: "last",
  pagesById: false,
  maxPageItems: 1000,
};

const OCTOBER_2025: Dialect = {
  ...GA,
  name: OLDER_MARKER,
  shape: shapeOctober2025,
  rules: { wrapped: "required" },
  uniqueTitles: true,
  maxTitleCharacters: 64,
  newestFirst: false,
  cascades: false,
  keeps: "nothing",
};

const OPENAI: Dialect = {
  ...GA,
  name: "openai",
  shape: shapeOpenai,
  rules: { anyCase: true },
  keeps: "default",
  pagesById: true,
  maxPageItems: 100,
};

/**
 * Today's API, unless `anthropic-beta` selects the older shapes, or `openai` is enabled and the request has no header
 * field of today's API.
 */
export function dialectOf({ headers }: Request, openai: boolean): Dialect {
  if (hasBeta(headers, OLDER_MARKER)) return OCTOBER_2025;
  if (openai && !headers.has("anthropic-version") && !headers.has("x-api-key")) return OPENAI;
  return GA;
}

/** The values of `anthropic-beta`: comma-separated, in one or several fields. */
export function betasOf(headers: Headers): string[] {
  const field = headers.get("anthropic-beta");
  return field === null ? [] : field.split(",").map((each) => each.trim()).filter((each) => each !== "");
}

function hasBeta(headers: Headers, name: string): boolean {
  // Most requests do not have the field.
  return headers.has("anthropic-beta") && betasOf(headers).includes(name);
}
