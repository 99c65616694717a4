/**
 * Which uses a rule or a limit is about: by tool, MCP server, user, client and scope. As for conditions, what is not certain
 * restricts: a rule that allows does not match it, a rule that denies or asks does.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { isScopeToken } from "../../http/scope_token.ts";
import { PolicyError } from "./condition.ts";
import { compileGlob, type Match } from "./glob.ts";
import { parseUriTemplate } from "../../mcp/definition/uri/uri_expression.ts";
import {
  agree,
  isAmbiguousPath,
  isComparable,
  rememberLast,
  toLoose,
  toLooseBeginning,
  toLoosePaths,
  toLoosePatterns,
  type Truth,
  withoutDots,
} from "./loose_text.ts";
import type { OfferedDefinition } from "./offered.ts";
import type { Names, PolicyMatch } from "./policy_options.ts";

/** Decides about a definition, and about a caller. */
export interface CompiledMatch {
  /** @param name the name, or the URI of the resource that is read */
  definition(definition: OfferedDefinition, name: string): Truth;
  /** Decides about all resources of a template: unknown where it depends on the URI. */
  template(definition: OfferedDefinition, uriTemplate: string): Truth;
  caller(caller: Principal | undefined): Truth;
}

type NameTest = (text: string) => Truth;

/** Decides about a URI, and about all URIs of a template. */
interface UriTest {
  uri(uri: string): Truth;
  template(uriTemplate: string): Truth;
}

const MAX_NAMES = 1000;
const MAX_NAME_CHARACTERS = 2048;
/** The members of {@linkcode PolicyMatch}. */
export const MATCH_MEMBERS: readonly (keyof PolicyMatch)[] = [
  "tools",
  "resources",
  "prompts",
  "upstreams",
  "callers",
  "users",
  "issuers",
  "clients",
  "scopes",
];
const CALLERS = ["user", "client", "anonymous"];

/** @throws {PolicyError} */
export function compileMatch(
  match: PolicyMatch,
  place: string,
  implied: ReadonlyMap<string, ReadonlySet<string>>,
): CompiledMatch {
  const read = (name: keyof PolicyMatch, isExact = false): NameTest | undefined =>
    match[name] === undefined ? undefined : compileNames(match[name], `${place}.${name}`, isExact);
  const { tools, resources, prompts } = match;
  const isAboutAll = tools === undefined && resources === undefined && prompts === undefined;
  const uris = resources === undefined ? undefined : compileUris(resources, `${place}.resources`);
  const kinds = { tool: read("tools"), prompt: read("prompts"), resource: uris?.uri };
  const upstreams = read("upstreams");
  const callers = match.callers === undefined ? undefined : [match.callers].flat();
  if (callers && (callers.length === 0 || callers.some((each) => !CALLERS.includes(each)))) {
    throw new PolicyError(`${place}.callers`, `must be of ${CALLERS.join(", ")}`);
  }
  const users = read("users", true);
  const issuers = read("issuers", true);
  const clients = read("clients", true);
  // "a b" in one text would be the name of no scope, so a rule that denies would never apply.
  if ([match.scopes ?? []].flat().some((each) => typeof each === "string" && !isScopeToken(each))) {
    throw new PolicyError(`${place}.scopes`, 'must be single scopes: ["a", "b"] in place of "a b"');
  }
  const scopes = read("scopes", true);

  return {
    definition(definition, name) {
      const kind = definition.kind === "resource_template" ? "resource" : definition.kind;
      return within(definition, isAboutAll || (kinds[kind] ? kinds[kind](name) : false));
    },
    template: (definition, uriTemplate) =>
      within(definition, isAboutAll || (uris ? uris.template(uriTemplate) : false)),
    caller(caller) {
      if (callers && !callers.includes(kindOf(caller))) return false;
      const { subject, client, issuer } = caller ?? {};
      if (users && (subject === undefined || users(subject) === false)) return false;
      if (clients && (client === undefined || clients(client) === false)) return false;
      if (scopes && !hasOne(caller, scopes)) return false;
      // Ids of another issuer say nothing about the users of this one, unless the rule names it.
      if (issuers) return issuer !== undefined && issuers(issuer) === true;
      return issuer !== undefined && (users || clients) ? undefined : true;
    },
  };

  function within({ upstream }: OfferedDefinition, named: Truth): Truth {
    if (named === false) return false;
    const from = upstreams ? upstream !== undefined && upstreams(upstream) : true;
    return from === false ? false : named && from;
  }

  function hasOne(caller: Principal | undefined, isNamed: NameTest): boolean {
    for (const scope of caller?.scopes ?? []) {
      if (isNamed(scope)) return true;
      for (const each of implied.get(scope) ?? []) if (isNamed(each)) return true;
    }
    return false;
  }
}

function kindOf(caller: Principal | undefined): "user" | "client" | "anonymous" {
  if (caller?.subject !== undefined) return "user";
  return caller ? "client" : "anonymous";
}

/** @param isExact for ids, which this server or the issuer made: without a loose reading */
function compileNames(names: unknown, place: string, isExact: boolean): NameTest {
  const patterns = readNames(names, place);
  const strict = patterns.map(compileGlob);
  const matches = (list: readonly Match[], text: string): boolean => list.some((match) => match(text));
  if (isExact) return (text) => matches(strict, text);
  const loose = patterns.map((pattern) => compileGlob(toLoose(pattern) || pattern));
  return (text) => matches(strict, text) || (matches(loose, toLoose(text)) ? undefined : false);
}

/** URIs are also read as programs resolve them. */
function compileUris(names: unknown, place: string): UriTest {
  const patterns = readNames(names, place);
  const loosePatterns = patterns.flatMap((pattern) => toLoosePatterns(pattern, true));
  const strict = patterns.map(compileGlob);
  const loose = loosePatterns.map(compileGlob);
  const beginnings = patterns.map(beforeStar);
  const looseBeginnings = loosePatterns.map((each) => beforeStar(each).replace(/\/+$/, ""));
  const coverings = patterns.filter((each) => /^[^*]*\*+$/.test(each)).map(beforeStar);
  return {
    uri(uri) {
      if (!isComparable(uri)) return undefined;
      const isStrict = (text: string): boolean => strict.some((match) => match(text));
      if (isAmbiguousPath(uri) || isStrict(uri) !== isStrict(withoutDots(uri))) return undefined;
      const isLoose = toLoosePaths(uri).map((path) => loose.some((match) => match(path)));
      return agree(isStrict(uri), isLoose);
    },
    template(uriTemplate) {
      const fixed = fixedBeginning(uriTemplate);
      if (coverings.some((each) => fixed.startsWith(each))) return true;
      const path = toLooseBeginning(fixed);
      const canMatch = beginnings.some((each) => overlap(each, fixed)) ||
        looseBeginnings.some((each) => overlap(each, path));
      return canMatch ? undefined : false;
    },
  };
}

/** What all URIs of a template begin with. Rules look at the same template one after the other. */
const fixedBeginning = rememberLast((uriTemplate) => {
  const [first] = parseUriTemplate(uriTemplate);
  return typeof first === "string" ? first : "";
});

function beforeStar(pattern: string): string {
  return pattern.split("*", 1)[0]!;
}

/** Whether a text can begin with both. */
function overlap(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

/** The names of an option, checked. @throws {PolicyError} */
export function readNames(names: unknown, place: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(names) ? names : [names];
  const isValid = (name: unknown) =>
    typeof name === "string" && name !== "" && name.length <= MAX_NAME_CHARACTERS;
  if (list.length > 0 && list.length <= MAX_NAMES && list.every(isValid)) return list as readonly string[];
  throw new PolicyError(place, `must be a text, or a list of 1 to ${MAX_NAMES} texts, that is not empty`);
}

/** A test of names without a loose reading. @throws {PolicyError} */
export function compileNameList(names: Names, place: string): Match {
  const globs = readNames(names, place).map(compileGlob);
  return (name) => globs.some((match) => match(name));
}
