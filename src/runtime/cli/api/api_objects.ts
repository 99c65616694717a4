/**
 * Reads objects of the Skills API: checks the members that the command line uses, and ignores the others.
 *
 * @module
 */
import type { ValidationReport } from "../../../skills/package/validation_report.ts";
import { readProblem, toObject } from "./api_error.ts";
import type { ListedSkill, ListedVersion } from "../skill/skill_place.ts";

export function readSkill(value: unknown): ListedSkill {
  const { id, name, display_name, description, source, latest_version_id, created_at, updated_at } = toObject(
    value,
  );
  const { type } = toObject(source);
  return {
    id: readText("id", id),
    name: textOrNull(name),
    display_name: textOrNull(display_name),
    description: textOrNull(description),
    source: textOrNull(type) ?? "custom",
    latest_version_id: textOrNull(latest_version_id),
    created_at: readText("created_at", created_at),
    updated_at: textOrNull(updated_at) ?? readText("created_at", created_at),
  };
}

export function readVersion(value: unknown): ListedVersion {
  const { id, name, description, created_at } = toObject(value);
  return {
    id: readText("id", id),
    name: readText("name", name),
    description: textOrNull(description) ?? "",
    created_at: readText("created_at", created_at),
  };
}

export function readPage<Item>(
  value: unknown,
  read: (value: unknown) => Item,
): { readonly data: Item[]; readonly next: string | null } {
  const { data, next_page } = toObject(value);
  if (!Array.isArray(data)) throw missingMember("data");
  return { data: data.map(read), next: textOrNull(next_page) || null };
}

export function readReport(value: unknown): ValidationReport {
  const { valid, name, description, files, size_bytes, tokens, errors, warnings } = toObject(value);
  if (typeof valid !== "boolean") throw missingMember("valid");
  const { metadata, instructions } = toObject(tokens);
  return {
    type: "skill_validation",
    valid,
    name: textOrNull(name),
    description: textOrNull(description),
    files: numberOr(files, 0),
    size_bytes: numberOr(size_bytes, 0),
    tokens: typeof metadata === "number" && typeof instructions === "number"
      ? { metadata, instructions }
      : null,
    errors: Array.isArray(errors) ? errors.map(readProblem) : [],
    warnings: Array.isArray(warnings) ? warnings.map(readProblem) : [],
  };
}

function readText(field: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw missingMember(field);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function missingMember(field: string): Error {
  return new Error(
    `Invalid response of the Skills API: "${field}" is missing. Check --url`,
  );
}
