/**
 * Whether what the fuzzed tool server answered is what it may answer.
 *
 * @module
 */
import type { Observed } from "./mcp_client.ts";
import { methodOutcomes, type Outcome, REFUSAL } from "./mcp_method_oracle.ts";
import type { Expected, Verdict } from "./mcp_oracle.ts";
import type { Exchange } from "./mcp_requests.ts";
import { checkAnswer, checkSpoken, findLeak, type Message } from "./mcp_shape.ts";
import { isObject, kindOf, MAX_ID_LENGTH } from "./mcp_wire.ts";

/** What may take a while, and be cancelled meanwhile. */
const MAY_STREAM = /^(tools\/call|prompts\/get|resources\/read)$/;

/** What is wrong; `undefined` when nothing is. `aborts`: the client was gone before the answer. */
export function compare(verdict: Verdict, observed: Observed, aborts: boolean): string | undefined {
  const { status, headers, messages, isStream, text } = observed;
  const problem = observed.problem ?? findLeak(text);
  if (problem !== undefined) return problem;
  const { expected, profile, value, session } = verdict;
  const answers = messages.filter((each) => !isObject(each) || each.method === undefined);
  if (answers.length > 1) return "more than one answer";
  const code = codeOf(observed, answers[0]);
  const request = isObject(value) && kindOf(value) === "request" ? value : undefined;
  const mayEnd = isStream && code === "stream" && request && MAY_STREAM.test(String(request.method)) &&
    (session || aborts);
  // The rest of a stream that was lost: what is left of it, or nothing (204).
  const isRest = expected.some((each) => each.code === "stream") && !request && session;
  const isRefused = expected.some((each) => each.code === REFUSAL) &&
    text.includes('"message":"The client answered ');
  const fits = mayEnd || isRefused || expected.some((each) => agrees(each, status, code, isStream)) ||
    isRest && (status === 204 || isStream);
  if (!fits) return "another answer";
  const spoken = messages.filter((each) => isObject(each) && each.method !== undefined);
  const odd = spoken.map((each) => checkSpoken(each as Message)).find((each) => each !== undefined);
  if (odd !== undefined) return odd;
  if (isStream) {
    if (messages.length > 0 && answers.length === 1 && messages.at(-1) !== answers[0]) {
      return "words after the answer";
    }
    if (profile.kind === "modern" && observed.events.some(({ id }) => id !== undefined)) return "event ids";
  } else if (text !== "" && code !== "text" && headers.get("content-type") !== "application/json") {
    return "another content type";
  }
  if (status === 401 && !headers.has("www-authenticate")) return "a 401 without a challenge";
  if (status === 405 && !headers.has("allow")) return "a 405 without Allow";
  if (code === "batch") return checkBatch(verdict, messages[0] as readonly unknown[]);
  if (answers.length === 0 || isRest || code === "text") return undefined;
  return checkAnswer(answers[0], idOf(value, code), profile);
}

/** The id that the answer repeats: `undefined` where there is none, or it could not be read. */
function idOf(value: unknown, code: Outcome): unknown {
  // Refused for its carrier, without a look at the message.
  if (!isObject(value) || code === -32001 || code === -32700) return undefined;
  if (kindOf(value) === "notification" || kindOf(value) === "answer") return undefined;
  const { id } = value;
  return typeof id === "string" && id.length <= MAX_ID_LENGTH || typeof id === "number" && Number.isFinite(id)
    ? id
    : undefined;
}

function codeOf({ status, isStream, text }: Observed, answer: unknown): Outcome {
  if (answer === undefined) return isStream ? "stream" : text === "" ? "none" : "text";
  if (Array.isArray(answer)) return "batch";
  if (!isObject(answer)) return "text";
  const { error } = answer;
  return isObject(error) && typeof error.code === "number" ? error.code : status === 200 ? "result" : "text";
}

function agrees(wanted: Expected, status: number, code: Outcome, isStream: boolean): boolean {
  const sameCode = wanted.code === "scope"
    ? code === -32000 || code === 401 || code === 403
    : wanted.code === code;
  return sameCode && (isStream ? status === 200 : wanted.status === status);
}

function checkBatch(
  { value, profile, token, session }: Verdict,
  answers: readonly unknown[],
): string | undefined {
  const asked = (value as readonly unknown[]).filter((each) => /request|invalid/.test(kindOf(each)));
  if (asked.length !== answers.length) return `${answers.length} answers to a batch of ${asked.length}`;
  for (const [i, each] of asked.entries()) {
    const answer = answers[i];
    const problem = checkAnswer(answer, idOf(each, "batch"), profile);
    if (problem !== undefined) return `${problem}, in a batch`;
    const { error } = answer as { error?: { code: number } };
    const allowed: readonly Outcome[] = kindOf(each) === "invalid"
      ? [-32600]
      : methodOutcomes(each as Record<string, unknown>, {
        profile,
        token,
        session,
        headers: undefined,
        loot: undefined,
      });
    const code = error ? error.code : "result";
    const fits = allowed.some((wanted) => agrees({ status: 200, code: wanted }, 200, code, false));
    if (!fits) return `${code} in place of ${allowed.join(" or ")}, in a batch`;
  }
  return undefined;
}

/** Whether others that are sent at the same time may change its answer. */
export function isUnsure({ session, value }: Verdict, { headers }: Exchange): boolean {
  return session !== undefined || headers.has("mcp-session-id") ||
    isObject(value) && kindOf(value) === "answer" ||
    /"(cursor|requestState|taskIds?)"/.test(JSON.stringify(value) ?? "");
}
