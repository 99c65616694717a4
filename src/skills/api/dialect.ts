/**
 * Which API a request means: three have the same paths, and its fields tell them apart. What they differ in beyond the
 * shapes of objects (`shape_*.ts`) is one table here.
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
  /** What an upload must be beyond the rules of all. */
  readonly rules: LayoutRules;
  /** Labels of a workspace differ, and are this long at most. */
  readonly uniqueTitles: boolean;
  readonly maxTitleCharacters: number;
  /** Versions are listed newest first, unless the request says otherwise. */
  readonly newestFirst: boolean;
  /** A skill is deleted with its versions, or must have none. */
  readonly cascades: boolean;
  /** Which version cannot be deleted by itself. */
  readonly keeps: "last" | "default" | "nothing";
  /** Pages go on after an id that the caller names, rather than with a cursor of the service. */
  readonly pagesById: boolean;
  readonly maxPageItems: number;
}

/** Names the older shapes in `anthropic-beta`. */
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
 * Today's API, unless `anthropic-beta` names the older shapes, or, where `openai` is offered, nothing that clients of
 * today's API send is there.
 */
export function dialectOf({ headers }: Request, openai: boolean): Dialect {
  if (hasBeta(headers, OLDER_MARKER)) return OCTOBER_2025;
  if (openai && !headers.has("anthropic-version") && !headers.has("x-api-key")) return OPENAI;
  return GA;
}

/** The values of `anthropic-beta`: a list with commas, in one field or several. */
export function betasOf(headers: Headers): string[] {
  const field = headers.get("anthropic-beta");
  return field === null ? [] : field.split(",").map((each) => each.trim()).filter((each) => each !== "");
}

function hasBeta(headers: Headers, name: string): boolean {
  // Most requests have none.
  return headers.has("anthropic-beta") && betasOf(headers).includes(name);
}
