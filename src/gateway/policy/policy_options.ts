/**
 * The declarative form of a policy: who may call what, with which arguments, how often and at what cost.
 *
 * @module
 */

/** What is done with a call. `ask`: the user must approve it. */
export type Effect = "allow" | "deny" | "ask";

/** One name, or several of which one must match. `*` stands for any characters. */
export type Names = string | readonly string[];

/** A value that an argument is compared with. */
export type PlainValue = string | number | boolean | null;

/**
 * What an argument must be. Several members must all hold. A comparison is true, false, or unknown: when the argument is
 * missing, has another type, or equals the value only under another spelling. What is unknown restricts: a rule that allows
 * does not apply, a rule that denies or asks does.
 */
export type Condition = PlainValue | ConditionMembers;

export interface ConditionMembers {
  /** Whether the argument is given. Never unknown, except for `null`. */
  readonly present?: boolean;
  readonly equals?: PlainValue;
  readonly oneOf?: readonly PlainValue[];
  readonly startsWith?: string;
  readonly endsWith?: string;
  readonly contains?: string;
  /** `*` stands for any characters but `/`, `**` for any characters. */
  readonly glob?: string;
  /** An absolute path or URL: the argument is that place, or one below it, also with a query. */
  readonly under?: string;
  readonly below?: number;
  readonly atMost?: number;
  readonly above?: number;
  readonly atLeast?: number;
  readonly not?: Condition;
}

/** Which uses a rule is about. Absent members match everything. */
export interface PolicyMatch {
  /** Names of tools, as clients see them. With it, the rule is about tools only, unless it also names others. */
  readonly tools?: Names;
  /** URIs of resources. */
  readonly resources?: Names;
  /** Names of prompts. */
  readonly prompts?: Names;
  /** Names of MCP servers, as in `mcpServers`. What this server offers itself comes from none. */
  readonly upstreams?: Names;
  /** Whether the call is made for a user, by a client for itself, or by an anonymous caller. */
  readonly callers?: "user" | "client" | "anonymous" | readonly ("user" | "client" | "anonymous")[];
  /** Ids of users. */
  readonly users?: Names;
  /** The issuers of the users and clients, where tokens of other servers are accepted. @default this server */
  readonly issuers?: Names;
  /** Ids of OAuth clients and API keys. */
  readonly clients?: Names;
  /** Scopes of the access token, of which one must match. */
  readonly scopes?: Names;
}

export interface PolicyRule extends PolicyMatch {
  /** By the path of an argument, such as `arguments.file.path`; `*` stands for every item of a list or member. */
  readonly when?: Readonly<Record<string, Condition>>;
  readonly effect: Effect;
  /** What the refusal, or the question to the user, says. */
  readonly reason?: string;
}

/** A limit of calls and of what they cost. All limits that match a call apply. */
export interface PolicyLimit extends PolicyMatch {
  /** Who has a count of their own. Several: each combination. @default "user" */
  readonly each?: LimitSubject | readonly LimitSubject[];
  /** At most so many calls in a time such as `30s`, `5m`, `1h`, `1d`. */
  readonly limit?: { readonly calls: number; readonly per: string };
  /** At most so much in a time. The cost of a call is a number, or the path of an argument with a number. */
  readonly spend?: { readonly cost: number | string; readonly budget: number; readonly per: string };
}

/** `all`: one count for all callers and tools. */
export type LimitSubject = "user" | "client" | "tool" | "upstream" | "all";

export interface AskOptions {
  /** How long an approval that the user wants remembered holds, such as `1h`. @default never remembered */
  readonly remember?: string | undefined;
  /** What is remembered: the tool with these arguments, or with any. @default "arguments" */
  readonly rememberFor?: "arguments" | "tool" | undefined;
  /** `page`: also clients with forms send the user to the page of this server. @default "form" */
  readonly by?: "form" | "page" | undefined;
  /** Seconds that a call waits while the user is on the page; 0 to 300. @default 30 */
  readonly wait?: number | undefined;
}

export interface AuditOfCalls {
  /** Records the SHA-256 digest of the arguments. @default true */
  readonly digest?: boolean;
  /** Tools whose arguments are kept. @default none */
  readonly keep?: Names;
  /** Names of arguments whose values are not kept, at any depth. @default those that look like secrets */
  readonly redact?: Names;
}

/** An AuthZEN policy decision point (https://openid.net/specs/authorization-api-1_0.html). */
export interface DecisionPointOptions {
  /** Its base URL, or that of its evaluation endpoint. https, or http on loopback. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds. @default 2000 */
  readonly timeout?: number;
  /** What a failure means. Calls beyond the limit of pending requests are always denied. @default "deny" */
  readonly onError?: "allow" | "deny";
  /** Seconds for which a decision may be used again; never longer than its `Cache-Control` says. @default 0 */
  readonly cache?: number;
  /** Whether it gets the arguments. @default true */
  readonly arguments?: boolean;
  /** Tools that it decides about. @default all, and resources and prompts */
  readonly tools?: Names;
}

/** The option `policy` of the gateway. */
export interface PolicyOptions {
  /** What is done when no rule applies. @default "allow" */
  readonly default?: Effect;
  /** The first rule that applies decides. */
  readonly rules?: readonly PolicyRule[];
  readonly limits?: readonly PolicyLimit[];
  readonly ask?: AskOptions;
  readonly audit?: AuditOfCalls;
  /** Asked about each call that the rules do not deny: it can deny, and not allow what they deny. */
  readonly decisionPoint?: DecisionPointOptions;
}
