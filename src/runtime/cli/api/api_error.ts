/**
 * Errors between the command line and a server: what is wrong, and what to do.
 *
 * @module
 */
import type { ReportedProblem } from "../../../skills/package/validation_report.ts";
import { printableText } from "../printable_text.ts";
import type { Credentials } from "./credentials.ts";

/** An error response of a server: its message, its code, and the id of the request, for the server's operator. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Of the error; `undefined` for a response of something else. */
  readonly type: string | undefined;
  /** The type of the error and the id of the request, in brackets. */
  readonly codes: string;
  /** The broken rules of a package, where the server lists them. */
  readonly problems: readonly ReportedProblem[];

  constructor(
    message: string,
    { status, type, codes, problems, advice }: Pick<ApiError, "status" | "type" | "codes" | "problems"> & {
      advice: string | undefined;
    },
  ) {
    super(`${message} ${codes}${advice === undefined ? "" : `\n${advice}`}`);
    this.status = status;
    this.type = type;
    this.codes = codes;
    this.problems = problems;
  }
}

/** The request did not reach the server. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
}

/** How much of a server's message is shown. */
const MAX_MESSAGE_CHARACTERS = 4000;

/**
 * The error of a response.
 * @param text the body
 * @param credentials what the request was sent with
 * @param path of the request, below the URL of the server
 */
export function readApiError(
  response: Response,
  text: string,
  credentials: Credentials | undefined,
  path: string,
): ApiError {
  const { status } = response;
  const { error, request_id } = readObject(text);
  const { type, message, details } = toObject(error);
  const id = request_id ?? response.headers.get("request-id");
  const shown = typeof message === "string" && message !== ""
    ? printableText(message, MAX_MESSAGE_CHARACTERS)
    : status >= 300 && status < 400
    ? `The server redirects to ${
      printableText(response.headers.get("location") ?? "an unknown URL", 200)
    }. Use that URL as --url`
    : `The server answered ${status}, without a message`;
  const codes = [
    typeof type === "string" ? printableText(type, 100) : `status ${status}`,
    ...typeof id === "string" ? [`request ${printableText(id, 100)}`] : [],
  ];
  return new ApiError(shown, {
    status,
    type: typeof type === "string" ? type : undefined,
    codes: `(${codes.join(", ")})`,
    problems: readProblems(toObject(details).problems),
    advice: ADVICE[status]?.(credentials, path),
  });
}

const ADVICE: Readonly<Record<number, (credentials: Credentials | undefined, path: string) => string>> = {
  401: (credentials, path) =>
    credentials === undefined
      ? `Set an API key in TRIVET_API_KEY or --key-file. Make one with trivet key add --name NAME${
        path.startsWith("/admin/") ? " --scope admin" : ""
      }`
      : "key" in credentials
      ? "The API key is invalid or was removed. Set another in TRIVET_API_KEY or --key-file"
      : "The access token is invalid or has expired. Set another in TRIVET_TOKEN",
  403: () =>
    "The API key or token needs a scope: skills:read, skills:write to change skills, admin for everything else",
};

function readProblems(problems: unknown): ReportedProblem[] {
  return Array.isArray(problems) ? problems.map(readProblem) : [];
}

/** A broken rule, as a server reports it. */
export function readProblem(value: unknown): ReportedProblem {
  const { code, file, line, message, hint } = toObject(value);
  return {
    code: typeof code === "string" ? code : "unknown",
    file: typeof file === "string" && file !== "" ? file : null,
    line: typeof line === "number" ? line : null,
    message: typeof message === "string" ? message : "",
    hint: typeof hint === "string" ? hint : null,
  };
}

/** The JSON object of a text; an empty object when the text is not one. */
export function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return toObject(JSON.parse(text));
  } catch {
    return {};
  }
}

export function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" ? value as Record<string, unknown> : {};
}

/** @param found what the pattern matched @param operand what the user gave the URL as */
type Describe = (url: URL, found: string, operand: string) => string;

/** Runtimes describe a failure in different words. The first pattern that matches gives the message. */
const FAILURES: readonly (readonly [pattern: RegExp, describe: Describe])[] = [
  [
    /ECONNREFUSED|ConnectionRefused|connection refused/i,
    ({ host }, _, operand) =>
      `Connection to ${host} refused. Check that the server runs, and check ${operand}`,
  ],
  [
    /ENOTFOUND|EAI_AGAIN|dns error|getaddrinfo/i,
    ({ hostname }, _, operand) => `Host ${hostname} not found. Check ${operand}`,
  ],
  [
    /CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+|ERR_TLS_CERT\w*|invalid peer certificate[^)]*|certificate/i,
    ({ host }, found) =>
      `The certificate of ${host} is not trusted (${
        printableText(found, 100)
      }). If your own authority issued ` +
      "it, set NODE_EXTRA_CA_CERTS (on Deno: DENO_CERT)",
  ],
  [
    /WRONG_VERSION_NUMBER|EPROTO|InvalidContentType|corrupt message|PACKET_LENGTH/i,
    ({ host }) => `${host} does not use TLS. Try http instead of https`,
  ],
];

/** Why there was no response, or an incomplete one. @param operand what the user gave the URL as */
export function explainFailure(url: URL, error: unknown, operand = "--url"): Error {
  const descriptions: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    descriptions.push(`${(cause as { code?: string }).code ?? ""} ${cause.message}`);
  }
  const text = descriptions.join(" ");
  for (const [pattern, describe] of FAILURES) {
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined) return new NotSentError(describe(url, found, operand), { cause: error });
  }
  const last = printableText(descriptions.at(-1)?.trim() ?? String(error), 200);
  return new Error(`Connection to ${url.host} failed: ${last}`, { cause: error });
}
