/**
 * A form on the terminal: asks for the members of an object one by one, as its JSON Schema describes them.
 *
 * @module
 */
import { isObject } from "../../../json_schema/value.ts";
import type { JsonObject } from "../../../mcp_client/client.ts";
import { printableText } from "../printable_text.ts";
import type { Asker } from "./ask.ts";
import { checkValue, findChoices, parseValue, toText, typesOf } from "./field_value.ts";

const MAX_CHOICES = 100;

export interface FormOptions {
  readonly asker: Asker;
  readonly signal: AbortSignal;
  /** Values that are known. */
  readonly given?: Readonly<JsonObject>;
  /** Whether optional members are left out without a question. */
  readonly requiredOnly?: boolean;
}

/** Asks for the members of an object that are not given. Optional members that get an empty answer are left out. */
export async function askForm(
  schema: unknown,
  { asker, signal, given = {}, requiredOnly = false }: FormOptions,
): Promise<JsonObject> {
  const root = isObject(schema) ? schema : {};
  const properties = isObject(root.properties) ? root.properties : {};
  const required = new Set(Array.isArray(root.required) ? root.required : []);
  const answers: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const isRequired = required.has(name);
    if (Object.hasOwn(given, name) || requiredOnly && !isRequired) continue;
    const field = isObject(property) ? property : {};
    describeField(name, field, isRequired, asker);
    const value = await askField(field, { isRequired, root, asker, signal });
    if (value !== undefined) answers.push([name, value]);
  }
  return { ...given, ...Object.fromEntries(answers) };
}

function describeField(name: string, field: Readonly<JsonObject>, isRequired: boolean, asker: Asker): void {
  const facts = [typesOf(field).join(" or "), isRequired ? "required" : ""].filter((each) => each !== "");
  const { title, description } = field;
  const texts = [title, description].filter((each) => typeof each === "string" && each !== "");
  const about = texts.length === 0 ? "" : `: ${texts.join(". ")}`;
  const label = facts.length === 0 ? name : `${name} (${facts.join(", ")})`;
  asker.tell(printableText(label + about));
  const choices = findChoices(field) ?? (isObject(field.items) ? findChoices(field.items) : undefined);
  for (const [i, { title, value }] of (choices ?? []).slice(0, MAX_CHOICES).entries()) {
    const text = toText(value);
    asker.tell("  " + printableText(`${i + 1}) ${text}${title === text ? "" : ` – ${title}`}`));
  }
}

async function askField(
  field: Readonly<JsonObject>,
  { isRequired, root, asker, signal }: {
    readonly isRequired: boolean;
    readonly root: Readonly<JsonObject>;
    readonly asker: Asker;
    readonly signal: AbortSignal;
  },
): Promise<unknown> {
  const { default: initial } = field;
  const hint = initial === undefined
    ? isRequired ? "" : "[none] "
    : `[${printableText(toText(initial), 200)}] `;
  for (;;) {
    const text = await asker.ask(`${hint}> `, signal);
    if (text === "") {
      if (initial !== undefined) return initial;
      if (!isRequired) return undefined;
      // An empty text can be what is wanted, where it is allowed.
      if (!typesOf(field).includes("string") || checkValue("", field, root).length > 0) {
        asker.tell("is required");
        continue;
      }
    }
    try {
      const value = parseValue(text, field, true);
      const problems = checkValue(value, field, root);
      if (problems.length === 0) return value;
      for (const problem of problems) asker.tell(printableText(problem));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      asker.tell(printableText(error.message));
    }
  }
}
