/**
 * What goes wrong between this command line and a server, in words that say what to do about it.
 *
 * @module
 */
import type { ReportedProblem } from "../../../skills/package/validation_report.ts";
import { plainText } from "../plain_text.ts";

/** A server's refusal: its message, its code and the id of the request, by which its operator finds it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The type of the error and the id of the request, in brackets. */
  readonly codes: string;
  /** Broken rules of a package, where the server lists them. */
  readonly problems: readonly ReportedProblem[];

  constructor(
    said: string,
    { status, codes, problems, advice }: Pick<ApiError, "status" | "codes" | "problems"> & {
      advice: string | undefined;
    },
  ) {
    super(`${said} ${codes}${advice === undefined ? "" : `\n${advice}`}`);
    this.status = status;
    this.codes = codes;
    this.problems = problems;
  }
}

/** Characters of a server's message that are shown. */
const LONGEST = 4000;

/**
 * The refusal in a response.
 * @param text its body
 * @param hasKey whether the request had a key
 */
export function readApiError(response: Response, text: string, hasKey: boolean): ApiError {
  const { status } = response;
  const { error, request_id } = readObject(text);
  const { type, message, details } = toObject(error);
  const id = request_id ?? response.headers.get("request-id");
  const said = typeof message === "string" && message !== ""
    ? plainText(message, LONGEST)
    : status >= 300 && status < 400
    ? `The server sends on to ${
      plainText(response.headers.get("location") ?? "nowhere", 200)
    }: name that as --url`
    : `The server answered ${status}, and not as the Skills API does`;
  const codes = [
    typeof type === "string" ? plainText(type, 100) : `status ${status}`,
    ...typeof id === "string" ? [`request ${plainText(id, 100)}`] : [],
  ];
  return new ApiError(said, {
    status,
    codes: `(${codes.join(", ")})`,
    problems: readProblems(toObject(details).problems),
    advice: ADVICE[status]?.(hasKey),
  });
}

const ADVICE: Readonly<Record<number, (hasKey: boolean) => string>> = {
  401: (hasKey) =>
    hasKey
      ? "The key is none of this server, or holds no more: give another in TRIVET_API_KEY or by --key-file"
      : "Give an API key of the server in TRIVET_API_KEY or by --key-file; trivet key add makes one",
  403: () => "The key must have the scope skills:read, and skills:write to change something",
};

function readProblems(problems: unknown): ReportedProblem[] {
  return Array.isArray(problems) ? problems.map(readProblem) : [];
}

/** A broken rule, as a server tells of it. */
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

/** The object that a text is in JSON; an empty one when it is none. */
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

/** Runtimes tell of one failure in different words: the first row that fits is what is said. */
const FAILURES: readonly (readonly [sign: RegExp, tell: (url: URL, sign: string) => string])[] = [
  [
    /ECONNREFUSED|ConnectionRefused|connection refused/i,
    ({ host }) => `Nobody listens at ${host}: is the server running, and is --url right?`,
  ],
  [
    /ENOTFOUND|EAI_AGAIN|dns error|getaddrinfo/i,
    ({ hostname }) => `The host ${hostname} cannot be found: is --url right?`,
  ],
  [
    /CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+|ERR_TLS_CERT\w*|invalid peer certificate[^)]*|certificate/i,
    ({ host }, sign) =>
      `The certificate of ${host} is not trusted (${
        plainText(sign, 100)
      }): where it comes from an authority of ` +
      "your own, name that in NODE_EXTRA_CA_CERTS (in Deno: DENO_CERT)",
  ],
  [
    /WRONG_VERSION_NUMBER|EPROTO|InvalidContentType|corrupt message|PACKET_LENGTH/i,
    ({ host }) => `${host} does not speak TLS: is it http rather than https?`,
  ],
];

/** Why there was no answer, or only half of one. */
export function explainFailure(url: URL, error: unknown): Error {
  const signs: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    signs.push(`${(cause as { code?: string }).code ?? ""} ${cause.message}`);
  }
  const text = signs.join(" ");
  for (const [sign, tell] of FAILURES) {
    const [found] = sign.exec(text) ?? [];
    if (found !== undefined) return new Error(tell(url, found), { cause: error });
  }
  const last = plainText(signs.at(-1)?.trim() ?? String(error), 200);
  return new Error(`The connection to ${url.host} broke: ${last}`, { cause: error });
}
