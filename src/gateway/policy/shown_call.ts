/**
 * Shows a call to the user who is asked to approve it: tool, MCP server and arguments as plain text of a limited length.
 *
 * @module
 */
import type { ShownArgument } from "../../oauth/approvals/approval.ts";
import { toPlainText } from "../../text/plain_text.ts";
import type { OfferedDefinition } from "./offered.ts";

/** What the user sees of a call. */
export interface ShownCall {
  readonly tool: string;
  readonly upstream?: string;
  readonly arguments: readonly ShownArgument[];
  /** Arguments that are not shown. */
  readonly more: number;
}

const MAX_ARGUMENTS = 30;
const MAX_NAME_CHARACTERS = 200;
const MAX_VALUE_CHARACTERS = 500;

/** Lists cannot be longer than a screen, so a call with more says how many it leaves out. */
export function showCall({ upstream }: OfferedDefinition, name: string, input: unknown): ShownCall {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const names = isObject ? Object.keys(input) : input === undefined ? [] : ["value"];
  const members = isObject ? input as Readonly<Record<string, unknown>> : { value: input };
  return {
    tool: toPlainText(name, MAX_NAME_CHARACTERS),
    ...(upstream !== undefined && { upstream: toPlainText(upstream, MAX_NAME_CHARACTERS) }),
    arguments: names.slice(0, MAX_ARGUMENTS).map((name) => ({
      name: toPlainText(name, MAX_NAME_CHARACTERS),
      value: toPlainText(JSON.stringify(members[name]) ?? "", MAX_VALUE_CHARACTERS),
    })),
    more: Math.max(0, names.length - MAX_ARGUMENTS),
  };
}

/** The message of a form: one line for each argument. */
export function writeQuestion(
  shown: ShownCall,
  { client, reason, digest }: {
    readonly client: string | undefined;
    readonly reason: string | undefined;
    readonly digest: string;
  },
): string {
  const { tool, upstream, arguments: all, more } = shown;
  return [
    "Allow this call?",
    `Tool: ${tool}`,
    ...(upstream === undefined ? [] : [`Server: ${upstream}`]),
    ...(client === undefined ? [] : [`Application: ${toPlainText(client, MAX_NAME_CHARACTERS)}`]),
    ...(reason === undefined ? [] : [`Why you are asked: ${toPlainText(reason, MAX_VALUE_CHARACTERS)}`]),
    all.length === 0 ? "Arguments: none" : "Arguments:",
    ...all.map(({ name, value }) => `- ${name}: ${value}`),
    ...(more > 0 ? [`${more} more arguments are not shown. Deny the call if you need to see them.`] : []),
    `Digest: ${digest}`,
  ].join("\n");
}
