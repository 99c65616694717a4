/**
 * The tools of every server: the same createNames, descriptions and arguments, as zod schemas and as JSON Schema. Each tool has
 * its own schema, like real tools. Schemas are created once, also for servers that register tools for each request.
 *
 * @module
 */
import { packageUrl } from "./subject.ts";

export interface ZodTool {
  readonly name: string;
  readonly description: string;
  /** A zod object. */
  readonly zod: unknown;
}

/** The validated arguments. */
export interface Arguments {
  readonly a: number;
  readonly b: number;
}

const DESCRIPTION =
  "Adds two numbers of a unit, with a note for the reader of the sum and tags to search by. Tool";
const NOTE = "What the sum is for, in a sentence";

export async function createZodTools(count: number): Promise<ZodTool[]> {
  return (await loadZodToolFactory())(count);
}

/** Resolves to a function that creates new schemas on each call. */
export async function loadZodToolFactory(): Promise<(count: number) => ZodTool[]> {
  const { z } = await import(packageUrl("zod"));
  return (count) =>
    createNames(count).map((name) => ({
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

export function createJsonSchemaTools(count: number): JsonSchemaTool[] {
  return createNames(count).map((name) => ({
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

/** The implementation of every tool. */
export function add({ a, b }: Arguments): { content: { type: "text"; text: string }[] } {
  return { content: [{ type: "text", text: String(a + b) }] };
}

export function toToolName(index: number): string {
  return `tool_${index}`;
}

function createNames(count: number): string[] {
  return Array.from({ length: count }, (_, i) => toToolName(i));
}
