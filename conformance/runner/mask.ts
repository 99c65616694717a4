/**
 * Takes secrets out of what is shown: each becomes `‹secret n›`, the same one everywhere within a vector, so that a
 * reader still sees where a token comes back.
 *
 * @module
 */
import { urlencode } from "./compute.ts";
import { isMembers } from "./vector_file.ts";

const NAMES =
  "access_token|refresh_token|id_token|token|code|device_code|user_code|client_secret|password|code_verifier|assertion|" +
  "client_assertion|subject_token|actor_token|registration_access_token|api_key|ticket|transaction|csrf|csrf_token|_csrf";
const SHORTEST = 6;
const LONG = 24;

/** Where secrets stand in requests, answers and reasons. */
const PLACES: readonly RegExp[] = [
  new RegExp(`"(?:${NAMES})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)+)`, "g"),
  new RegExp(`(?:^|[?&#\\s])(?:${NAMES})=([^&\\s"'<>;,]+)`, "gm"),
  /^(?:authorization|dpop|x-api-key|mcp-session-id|proxy-authorization): *(?:[A-Za-z]+ +)?(\S+)/gim,
  /^cookie: *(.+)$/gim,
  /^set-cookie: *[^=;]+=([^;\n]+)/gim,
  new RegExp(`name="(?:${NAMES})"\\s+value="([^"]+)`, "g"),
];

/** A masker for one vector. */
export function maskerFor(variables: unknown): (text: string) => string {
  const known = new Set<string>();
  const labels = new Map<string, string>();
  const learn = (secret: string) => {
    if (secret.length >= SHORTEST && !secret.includes("‹")) known.add(secret);
  };
  for (const secret of secretsOf(variables)) {
    for (const form of [secret, encodeURIComponent(secret), urlencode(secret)]) learn(form);
  }
  return (text) => {
    for (const place of PLACES) {
      for (const [whole, secret] of text.matchAll(place)) {
        if (/^cookie:/i.test(whole)) {
          for (const pair of secret!.split(/; */)) learn(pair.slice(pair.indexOf("=") + 1));
        } else learn(secret!);
      }
    }
    // Longest first, so that no secret is cut by one that it contains.
    for (const secret of [...known].sort((one, other) => other.length - one.length)) {
      const start = secret.slice(0, LONG);
      if (!text.includes(start)) continue;
      const label = labels.get(secret) ?? `‹secret ${labels.size + 1}›`;
      labels.set(secret, label);
      text = text.replaceAll(secret, label);
      // A long one may have been cut where it is shown.
      if (secret.length > LONG) {
        text = text.replaceAll(new RegExp(`${start.replace(/\W/g, "\\$&")}[\\w.~+/=%-]*`, "g"), label);
      }
    }
    return text;
  };
}

/** Texts of the target's variables under names that say secret. */
function secretsOf(value: unknown, name = ""): string[] {
  // A form's field may be called "password", and the address of an endpoint is no secret.
  if (typeof value === "string") {
    const isNamed = /secret|password|token|key|private/i.test(name) && value !== name;
    return isNamed && !/^https?:\/\//.test(value) ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => secretsOf(item, name));
  return isMembers(value) ? Object.entries(value).flatMap(([member, each]) => secretsOf(each, member)) : [];
}
