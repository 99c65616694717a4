/**
 * The tools that every server offers: the same names, descriptions and arguments, as zod schemas and as JSON Schema. Each
 * tool has a schema of its own, as real ones do. Schemas are made once, also for servers that register tools again for
 * each request.
 *
 * @module
 */
import { packageUrl } from "./subject.ts";

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** A zod object. */
  readonly zod: unknown;
}

/** What `run` is given: the checked arguments. */
export interface Arguments {
  readonly a: number;
  readonly b: number;
}

const DESCRIPTION =
  "Adds two numbers of a unit, with a note for whoever reads the sum and tags to find it by. Tool";
const NOTE = "What the sum is for, in a sentence";

export async function zodTools(count: number): Promise<OfferedTool[]> {
  return (await zodToolMaker())(count);
}

/** Makes the tools anew each time. */
export async function zodToolMaker(): Promise<(count: number) => OfferedTool[]> {
  const { z } = await import(packageUrl("zod"));
  return (count) =>
    names(count).map((name) => ({
      name,
      description: `${DESCRIPTION} ${name}`,
      zod: z.object({
        a: z.number().describe("The first number"),
        b: z.number().describe("The second number"),
        unit: z.enum(["m", "s", "kg"]).optional(),
        note: z.string().max(200).describe(NOTE).optional(),
        tags: z.array(z.string().max(50)).max(10).optional(),
      }),
    }));
}

export interface JsonSchemaTool {
  readonly name: string;
  readonly description: string;
  readonly schema: { readonly [keyword: string]: unknown };
}

export function jsonSchemaTools(count: number): JsonSchemaTool[] {
  return names(count).map((name) => ({
    name,
    description: `${DESCRIPTION} ${name}`,
    schema: {
      type: "object",
      properties: {
        a: { type: "number", description: "The first number" },
        b: { type: "number", description: "The second number" },
        unit: { type: "string", enum: ["m", "s", "kg"] },
        note: { type: "string", maxLength: 200, description: NOTE },
        tags: { type: "array", items: { type: "string", maxLength: 50 }, maxItems: 10 },
      },
      required: ["a", "b"],
    },
  }));
}

/** What every tool answers. */
export function add({ a, b }: Arguments): { content: { type: "text"; text: string }[] } {
  return { content: [{ type: "text", text: String(a + b) }] };
}

export function nameOf(index: number): string {
  return `tool_${index}`;
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => nameOf(i));
}
