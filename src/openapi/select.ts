/**
 * Which operations become tools: the option `select`.
 *
 * @module
 */
import { checkNames, checkOneOf, type Names } from "../options/option_check.ts";
import { OpenApiError } from "./document.ts";
import type { Operation } from "./operation.ts";

/** An operation is selected if it fits every member that is given. */
export interface Selection {
  /** It has at least one of these tags. */
  readonly tags?: readonly string[];
  /** Its `operationId`, or the name of its tool, is one of these. */
  readonly operations?: readonly string[];
  /** In any case. @default GET and HEAD; all of them with `operations` */
  readonly methods?: readonly string[];
  /** Its path fits one of these: `*` is any text without "/", `**` is any text. */
  readonly paths?: readonly string[];
  /** @default true */
  readonly deprecated?: boolean;
}

/** `safe`: GET and HEAD, which only read. `all`: every operation. */
export type Select = "safe" | "all" | Selection | ((operation: Operation) => boolean);

const NAMES: Names<Selection> = {
  tags: "string[]",
  operations: "string[]",
  methods: "string[]",
  paths: "string[]",
  deprecated: "boolean",
};

/** @throws {TypeError} for a value that would select other operations than it says */
export function checkSelect(select: Select | undefined): void {
  if (typeof select === "function") return;
  if (typeof select === "object" && !Array.isArray(select)) checkNames("openApi.select", select, NAMES);
  else checkOneOf("openApi.select", select as "safe" | undefined, "safe", "all" as "safe");
}

const SAFE_METHODS: readonly string[] = ["GET", "HEAD"];

/**
 * Whether an operation is selected.
 * @throws {OpenApiError} for an entry of `tags`, `operations` or `paths` that no operation has: a misspelled one would be
 *   unnoticed
 */
export function selectOperations<Each extends Operation>(
  operations: readonly Each[],
  select: Select,
): readonly Each[] {
  if (select === "all") return operations;
  if (select === "safe") return operations.filter(({ method }) => SAFE_METHODS.includes(method));
  if (typeof select === "function") return operations.filter(select);
  const { tags, operations: names, paths, deprecated = true } = select;
  const methods = select.methods?.map((each) => each.toUpperCase()) ?? (names ? undefined : SAFE_METHODS);
  const patterns = paths?.map((path) => ({ path, expression: toExpression(path) }));
  for (
    const [member, values, has] of [
      ["tags", tags, (value: string) => operations.some((each) => each.tags.includes(value))],
      ["operations", names, (value: string) => operations.some((each) => isNamed(each, value))],
      ["paths", paths, (value: string) => operations.some(({ path }) => toExpression(value).test(path))],
    ] as const
  ) {
    const unknown = values?.find((value) => !has(value));
    if (unknown !== undefined) {
      throw new OpenApiError(`Invalid select.${member}: no operation of the document fits "${unknown}"`);
    }
  }
  return operations.filter((each) =>
    (!tags || each.tags.some((tag) => tags.includes(tag))) &&
    (!names || names.some((name) => isNamed(each, name))) &&
    (!methods || methods.includes(each.method)) &&
    (!patterns || patterns.some(({ expression }) => expression.test(each.path))) &&
    (deprecated || !each.isDeprecated)
  );
}

function isNamed({ id, name }: Operation, value: string): boolean {
  return id === value || name === value;
}

function toExpression(glob: string): RegExp {
  const parts = glob.split(/(\*\*?)/).map((part) =>
    part === "**" ? ".*" : part === "*" ? "[^/]*" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
  );
  return new RegExp(`^${parts.join("")}$`, "s");
}
