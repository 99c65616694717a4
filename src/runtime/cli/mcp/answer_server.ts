/**
 * Answers what a server asks during a call (elicitation), on the terminal: forms, and addresses to open.
 *
 * @module
 */
import type { AnswerServerRequest, JsonObject } from "../../../mcp_client/client.ts";
import { McpError } from "../../../mcp_client/error.ts";
import { METHOD_NOT_FOUND } from "../../../jsonrpc/error.ts";
import { printableLines, printableText } from "../printable_text.ts";
import type { Asker } from "./ask.ts";
import { askForm } from "./form.ts";

/** Answers one request after the other. @param server its name, for the questions */
export function answerOnTerminal(asker: Asker, server: string): AnswerServerRequest {
  let last: Promise<unknown> = Promise.resolve();
  return (method, params, signal) => {
    const answer = last.then(() => answerOne(method, params, signal));
    last = answer.catch(() => {});
    return answer;
  };

  function answerOne(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    if (method !== "elicitation/create") throw new McpError(METHOD_NOT_FOUND, `Method not found: ${method}`);
    asker.tell(`${printableText(server)} asks:`);
    // Indented, so that no line of it passes for a question of this command.
    asker.tell(printableLines(String(params.message)).replace(/^/gm, "  "));
    return params.mode === "url" ? answerUrl(params, signal) : answerForm(params, signal);
  }

  async function answerForm({ requestedSchema }: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const action = await askAction("Answer? y(es), n(o), c(ancel)", signal);
    if (action !== "accept") return { action };
    return { action, content: await askForm(requestedSchema, { asker, signal }) };
  }

  async function answerUrl({ url }: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const address = typeof url === "string" ? URL.parse(url) : null;
    if (!address || !/^https?:$/.test(address.protocol)) {
      asker.tell(`It asks to open something that is not a web address: ${printableText(String(url), 200)}`);
      return { action: "decline" };
    }
    // The host is shown alone, so that a name in the path does not pass for it.
    asker.tell(`Open this address in a browser, if you trust ${printableText(address.host)}:`);
    asker.tell(`  ${printableText(address.href)}`);
    return { action: await askAction("Will you open it? y(es), n(o), c(ancel)", signal) };
  }

  async function askAction(question: string, signal: AbortSignal): Promise<"accept" | "decline" | "cancel"> {
    for (;;) {
      const text = (await asker.ask(`${question}: `, signal)).trim().toLowerCase();
      if (text === "y" || text === "yes") return "accept";
      if (text === "n" || text === "no") return "decline";
      if (text === "c" || text === "cancel") return "cancel";
    }
  }
}
