/**
 * Takes secrets out of what is shown: each becomes `‹secret n›`, the same one everywhere within a vector, so that a
 * reader still sees where a token comes back.
 *
 * @module
 */
import { urlencode } from "../vector/compute.ts";
import { isMembers } from "../vector/vector_file.ts";

// MCP's progress token is chosen to be seen: it says which request a notification is about.
const NAMES =
  "(?!progress_?token\\b)(?:code|device_code|user_code|api_key|apikey|ticket|transaction|pin|otp|" +
  "session|session_id|sid|[\\w-]*(?:token|secret|password|passwd|verifier|assertion|csrf|xsrf|nonce_key))";
/** Of what stands in a place of secrets. */
const MIN_SECRET_CHARACTERS = 6;
/** Of what a target says is one. */
const MIN_NAMED_SECRET_CHARACTERS = 3;
const LONG = 24;

/** Where secrets stand in requests, answers, reasons and command lines. */
const PLACES: readonly RegExp[] = [
  new RegExp(`"(?:${NAMES})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)+)`, "gi"),
  new RegExp(`(?:^|[?&#\\s])(?:${NAMES})=([^&\\s"'<>;,]+)`, "gim"),
  /^(?:authorization|dpop|x-api-key|mcp-session-id|proxy-authorization): *(?:[A-Za-z]+ +)?(\S+)/gim,
  /^cookie: *(.+)$/gim,
  /^set-cookie: *[^=;\n]+=([^;\n]+)/gim,
  new RegExp(`name="?(?:${NAMES})"?\\s+value="?([^"\\s>]+)`, "gi"),
  // The user name of an address alone is none, unless it looks like a token; what is behind a colon is a password.
  /:\/\/([^/@\s"':?#\\]*:[^/@\s"']+)@/g,
  /:\/\/[^/@\s"':?#\\]*:([^/@\s"']+)@/g,
  /:\/\/([\w~+=%-]{16,})(?::[^/@\s"']*)?@/g,
  /--?[\w-]*(?:key|token|secret|password)[= ]([^\s"']+)/gi,
];

/** Words, codes of errors, hosts: masked where a secret stands, but they are said elsewhere for other reasons. */
const PLAIN = /^(?:[a-z]{1,16}(?:_[a-z]{1,16})*|\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|[a-z\d.-]+\.example)$/;
/** Names and marks of what people choose or type: that may be a word. */
const CHOSEN = /passw|secret|key|user_code|pin\b|otp\b|:\/\/.*:/i;

/** A masker for one vector. */
export function maskerFor(variables: unknown): (text: string) => string {
  const known = new Set<string>();
  const labels = new Map<string, string>();
  const learn = (secret: string, shortest = MIN_SECRET_CHARACTERS) => {
    if (secret.length >= shortest && !secret.includes("‹")) known.add(secret);
  };
  for (const secret of secretsOf(variables)) {
    const forms = [
      secret,
      encodeURIComponent(secret),
      urlencode(secret),
      JSON.stringify(secret).slice(1, -1),
    ];
    for (const form of forms) learn(form, MIN_NAMED_SECRET_CHARACTERS);
  }
  const labelOf = (secret: string): string => {
    const label = labels.get(secret) ?? `‹secret ${labels.size + 1}›`;
    labels.set(secret, label);
    return label;
  };
  return (text) => {
    for (const place of PLACES) {
      for (const found of text.matchAll(place)) {
        for (const secret of secretsIn(found)) if (!isPlain(secret, found[0])) learn(secret);
      }
    }
    // Longest first, so that no secret is cut by one that it contains.
    for (const secret of [...known].sort((one, other) => other.length - one.length)) {
      const start = secret.slice(0, LONG);
      if (!text.includes(start)) continue;
      const label = labelOf(secret);
      text = text.replaceAll(secret, label);
      // A long one may have been cut where it is shown.
      if (secret.length > LONG) {
        text = text.replaceAll(new RegExp(`${start.replace(/\W/g, "\\$&")}[\\w.~+/=%-]*`, "g"), label);
      }
    }
    for (const place of PLACES) {
      text = text.replaceAll(place, (...found) => {
        let whole = String(found[0]);
        for (const secret of secretsIn(found)) {
          if (secret.length < MIN_SECRET_CHARACTERS || !isPlain(secret, whole)) continue;
          const at = whole.lastIndexOf(secret);
          whole = whole.slice(0, at) + labelOf(secret) + whole.slice(at + secret.length);
        }
        return whole;
      });
    }
    return text;
  };
}

/** What stands in a place: one text, or the values of cookies, the last one first. */
function secretsIn([whole, secret]: readonly unknown[]): string[] {
  if (!/^cookie:/i.test(String(whole))) return [String(secret)];
  return String(secret).split(/; */).reverse().map((pair) => pair.slice(pair.indexOf("=") + 1));
}

function isPlain(secret: string, whole: string): boolean {
  return PLAIN.test(secret) && !CHOSEN.test(whole.slice(0, whole.lastIndexOf(secret)));
}

/** Texts of the target's variables under names that say secret, and all of a user but the name. */
function secretsOf(value: unknown, name = "", isSecret = false): string[] {
  // A form's field may be called "password", and the address of an endpoint is no secret.
  if (typeof value === "string") {
    return isSecret && value !== name && !/^(?:https?:\/)?\//.test(value) && !PUBLIC.has(name) ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => secretsOf(item, name, isSecret));
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([member, each]) =>
    OPEN.has(member) ? [] : secretsOf(each, member, isSecret || SAYS_SECRET.test(member))
  );
}

const SAYS_SECRET = /secret|password|token|key|private|cookie|session|credential|^users$/i;
/** What a server says of itself is for everybody. */
const OPEN: ReadonlySet<string> = new Set(["metadata", "endpoints"]);
/** What is no secret even there: names of users, public parts of keys. */
const PUBLIC: ReadonlySet<string> = new Set([
  ..."id name username email sub kty crv alg use kid x y n e key_ops url page".split(" "),
]);
