/**
 * Compares a response of the fuzzed tool server with the predicted ones.
 *
 * @module
 */
import type { Observed } from "./mcp_client.ts";
import { methodOutcomes, type Outcome, REFUSAL } from "./mcp_method_oracle.ts";
import type { Expected, Prediction } from "./mcp_oracle.ts";
import type { Exchange } from "./mcp_requests.ts";
import { checkResponse, checkServerMessage, findLeak, type Message } from "./mcp_shape.ts";
import { getKind, isObject, MAX_ID_LENGTH } from "./mcp_wire.ts";

/** Methods that run definitions, and can be cancelled. */
const MAY_STREAM = /^(tools\/call|prompts\/get|resources\/read)$/;

/** Describes what is wrong with a response; `undefined` if it is allowed. @param aborts whether the client aborted */
export function compare(prediction: Prediction, observed: Observed, aborts: boolean): string | undefined {
  const { status, headers, messages, isStream, text } = observed;
  const problem = observed.problem ?? findLeak(text);
  if (problem !== undefined) return problem;
  const { expected, profile, value, session } = prediction;
  const answers = messages.filter((each) => !isObject(each) || each.method === undefined);
  if (answers.length > 1) return "more than one response";
  const code = getOutcome(observed, answers[0]);
  const request = isObject(value) && getKind(value) === "request" ? value : undefined;
  const mayEndEarly = isStream && code === "stream" && request && MAY_STREAM.test(String(request.method)) &&
    (session || aborts);
  // A resumed stream: its remaining events, or 204 without any.
  const isResumed = expected.some((each) => each.code === "stream") && !request && session;
  const isRefused = expected.some((each) => each.code === REFUSAL) &&
    text.includes('"message":"The client answered ');
  const fits = mayEndEarly || isRefused || expected.some((each) => matches(each, status, code, isStream)) ||
    isResumed && (status === 204 || isStream);
  if (!fits) return "an unexpected response";
  const serverMessages = messages.filter((each) => isObject(each) && each.method !== undefined);
  const problemOfMessage = serverMessages.map((each) => checkServerMessage(each as Message)).find((each) =>
    each !== undefined
  );
  if (problemOfMessage !== undefined) return problemOfMessage;
  if (isStream) {
    if (messages.length > 0 && answers.length === 1 && messages.at(-1) !== answers[0]) {
      return "messages after the response";
    }
    if (profile.kind === "modern" && observed.events.some(({ id }) => id !== undefined)) return "event ids";
  } else if (text !== "" && code !== "text" && headers.get("content-type") !== "application/json") {
    return "an unexpected content type";
  }
  if (status === 401 && !headers.has("www-authenticate")) return "a 401 without a challenge";
  if (status === 405 && !headers.has("allow")) return "a 405 without Allow";
  if (code === "batch") return checkBatch(prediction, messages[0] as readonly unknown[]);
  if (answers.length === 0 || isResumed || code === "text") return undefined;
  return checkResponse(answers[0], getResponseId(value, code), profile);
}

/** Returns the id of the response: `undefined` if the request has none, or it could not be read. */
function getResponseId(value: unknown, code: Outcome): unknown {
  // The server refused the HTTP request, without reading the message.
  if (!isObject(value) || code === -32001 || code === -32700) return undefined;
  if (getKind(value) === "notification" || getKind(value) === "answer") return undefined;
  const { id } = value;
  return typeof id === "string" && id.length <= MAX_ID_LENGTH ||
      typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER
    ? id
    : undefined;
}

function getOutcome({ status, isStream, text }: Observed, answer: unknown): Outcome {
  if (answer === undefined) return isStream ? "stream" : text === "" ? "none" : "text";
  if (Array.isArray(answer)) return "batch";
  if (!isObject(answer)) return "text";
  const { error } = answer;
  return isObject(error) && typeof error.code === "number" ? error.code : status === 200 ? "result" : "text";
}

function matches(wanted: Expected, status: number, code: Outcome, isStream: boolean): boolean {
  const sameCode = wanted.code === "scope"
    ? code === -32000 || code === 401 || code === 403
    : wanted.code === code;
  return sameCode && (isStream ? status === 200 : wanted.status === status);
}

function checkBatch(
  { value, profile, token, session }: Prediction,
  answers: readonly unknown[],
): string | undefined {
  const asked = (value as readonly unknown[]).filter((each) => /request|invalid/.test(getKind(each)));
  if (asked.length !== answers.length) return `${answers.length} responses to a batch of ${asked.length}`;
  for (const [i, each] of asked.entries()) {
    const answer = answers[i];
    const problem = checkResponse(answer, getResponseId(each, "batch"), profile);
    if (problem !== undefined) return `${problem}, in a batch`;
    const { error } = answer as { error?: { code: number } };
    const allowed: readonly Outcome[] = getKind(each) === "invalid"
      ? [-32600]
      : methodOutcomes(each as Record<string, unknown>, {
        profile,
        token,
        session,
        headers: undefined,
        corpus: undefined,
      });
    const code = error ? error.code : "result";
    const fits = allowed.some((wanted) => matches({ status: 200, code: wanted }, 200, code, false));
    if (!fits) return `${code} instead of ${allowed.join(" or ")}, in a batch`;
  }
  return undefined;
}

/** Whether concurrent requests may affect the response. */
export function dependsOnOthers({ session, value }: Prediction, { headers }: Exchange): boolean {
  return session !== undefined || headers.has("mcp-session-id") ||
    isObject(value) && getKind(value) === "answer" ||
    /"(cursor|requestState|taskIds?)"/.test(JSON.stringify(value) ?? "");
}
