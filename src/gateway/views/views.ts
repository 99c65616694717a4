/**
 * What each caller of a gateway is offered: the server's own definitions and those of the upstreams that the caller uses, as
 * far as the policy shows them. Callers that are offered the same share one compiled view.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Definition } from "../../mcp/definition/definition.ts";
import type { ChangedFor } from "../../mcp/definition/changes.ts";
import { identityOf } from "../../mcp/definition/definition_source.ts";
import type { Extension } from "../../mcp/definition/extension.ts";
import { group, type Middleware } from "../../mcp/definition/group.ts";
import { type CreateViews, type View, viewedMethods } from "../../mcp/definition/views.ts";
import { compileUriTemplate } from "../../mcp/definition/uri/uri_template.ts";
import { userKey } from "../../mcp/session/principal_key.ts";
import { skillsExtension } from "../../mcp/skills/skills_extension.ts";
import { isUpstreamDefinition, isUpstreamSkill } from "../upstream/upstream_definition.ts";
import { guardSkills, type OwnSkills, type SkillPolicy } from "./own_skills.ts";
import { createSkillSource } from "./skill_source.ts";

export interface ViewsOptions {
  /**
   * The definitions of the upstreams for a caller, as the same objects until they change. A promise settles within seconds,
   * although an upstream does not answer.
   */
  readonly list: (principal: Principal | undefined) => readonly Definition[] | Promise<readonly Definition[]>;
  /** Calls `onChange` after each change of what an upstream offers, with the only user for whom it changed. */
  readonly watch: (onChange: (changedFor?: ChangedFor) => void) => void;
  /** Whether the caller may see the definition. @default all callers see all definitions */
  readonly isVisible?:
    | ((definition: Definition, principal: Principal | undefined) => boolean)
    | undefined;
  /** Runs around every tool, resource and prompt, also those of the server itself. @default none */
  readonly middleware?: readonly Middleware[] | undefined;
  /** The definition with completions that the policy decides about. @default as it is */
  readonly guardCompletions?: ((definition: Definition) => Definition) | undefined;
  /** The skills of the server itself. @default none */
  readonly skills?: OwnSkills | undefined;
  /** Whether the policy denies to read a file of a skill of the server itself. @default it denies none */
  readonly isDenied?: SkillPolicy["isDenied"];
  /** The other scopes that a scope implies. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether all callers share the sessions of all upstreams. */
  readonly isShared: () => boolean;
  /** Called with the definition that cannot be compiled, which is left out. */
  readonly onInvalid: (definition: Definition, error: unknown) => void;
}

/** Callers and views that are kept; the oldest ones are made again when they come back. */
const MAX_CALLERS = 10_000;
const MAX_VIEWS = 200;
const END_OF_USER = "\n";

/** Makes the views of a gateway. */
export function createGatewayViews(options: ViewsOptions): CreateViews {
  const { list, watch, isVisible, middleware = [], guardCompletions, isShared, onInvalid } = options;
  const guard = (definitions: readonly Definition[]): readonly Definition[] => {
    const guarded = guardCompletions ? definitions.map((each) => guardCompletions(each)) : definitions;
    return middleware.length > 0 ? group({ middleware }, guarded) : guarded;
  };
  const isGuarded = middleware.length > 0 || options.isDenied !== undefined;
  const ownSkills = options.skills && isGuarded
    ? guardSkills(options.skills, { ...options, middleware })
    : options.skills;
  /** In place of that of the server, whose skills are not within the policy. */
  const ownExtensions = ownSkills && isGuarded ? [skillsExtension(ownSkills)] : undefined;
  const extensionFor = (definitions: readonly Definition[]): Extension =>
    skillsExtension(createSkillSource(ownSkills, definitions, options.implied));
  return (host) => {
    /** By the identity of the caller. */
    let callers = new Map<string, View>();
    /** By the numbers of the definitions in it. */
    let views = new Map<string, View>();
    let own: readonly Definition[] | undefined;
    /** As `own`, where an upstream has skills: with the tools that load them. */
    let ownWithSkills: readonly Definition[] | undefined;
    /** Changes with each reset, so that what was begun before is not kept. */
    let generation = 0;
    let numbers = new WeakMap<Definition, number>();
    let lastNumber = 0;

    function reset(): void {
      generation++;
      callers = new Map();
      views = new Map();
      own = undefined;
      ownWithSkills = undefined;
      numbers = new WeakMap();
      lastNumber = 0;
    }

    /** What others are offered is as before, and so is what was compiled for them. */
    function forget(user: string): void {
      generation++;
      for (const caller of callers.keys()) if (caller.startsWith(user + END_OF_USER)) callers.delete(caller);
    }
    watch((changedFor) => changedFor ? forget(userKey(changedFor.user)) : reset());

    const numberOf = (definition: Definition): number => {
      const known = numbers.get(definition);
      if (known !== undefined) return known;
      numbers.set(definition, ++lastNumber);
      return lastNumber;
    };

    function compile(listed: readonly Definition[], principal: Principal | undefined): View {
      const isOffered = (each: Definition): boolean => !isVisible || isVisible(each, principal);
      const hasSkills = listed.some((each) => isUpstreamSkill(each) && isOffered(each));
      const base = hasSkills
        ? ownWithSkills ??= host.definitions([extensionFor([])])
        : own ??= host.definitions(ownExtensions);
      const visible = withoutDuplicates(base, listed).filter(isOffered);
      const key = visible.map(numberOf).join();
      const view = views.get(key) ?? (hasSkills ? compileWithSkills(base, visible) : compileValid(
        (definitions) => host.compile(definitions, ownExtensions),
        guard(visible),
        onInvalid,
      ));
      keep(views, key, view, MAX_VIEWS);
      return view;
    }

    /** A view in which the extension of skills also has those of upstreams. */
    function compileWithSkills(base: readonly Definition[], visible: readonly Definition[]): View {
      const own = new Set(base);
      const ofUpstreams = guard(visible.filter((each) => !own.has(each)));
      const extension = extensionFor(ofUpstreams);
      const offered = new Set(visible.map(identityOf));
      const ofServer = host.definitions([extension]).filter((each) => offered.has(identityOf(each)));
      return compileValid(
        (definitions) => host.compile(definitions, [extension]),
        [...guard(ofServer), ...ofUpstreams],
        onInvalid,
      );
    }

    function find(principal: Principal | undefined): View | Promise<View> {
      const caller = isShared() && !isVisible ? "" : callerKey(principal);
      const known = callers.get(caller);
      if (known) return known;
      const begun = generation;
      const finish = (listed: readonly Definition[]): View => {
        const view = compile(listed, principal);
        if (begun === generation) keep(callers, caller, view, MAX_CALLERS);
        return view;
      };
      const listed = list(principal);
      return listed instanceof Promise ? listed.then(finish) : finish(listed);
    }
    return { find, reset, methods: viewedMethods };
  };
}

/** Compiles a view; a definition of an upstream that is invalid is left out, and the others stay. */
function compileValid(
  compile: (definitions: readonly Definition[]) => View,
  definitions: readonly Definition[],
  onInvalid: ViewsOptions["onInvalid"],
): View {
  try {
    return compile(definitions);
  } catch {
    const valid = definitions.filter((each) => {
      try {
        compile([each]);
        return true;
      } catch (error) {
        onInvalid(each, error);
        return false;
      }
    });
    return compile(valid);
  }
}

/** Of two with one name or URI the first is kept: the server's own, also where it is one of a template. */
function withoutDuplicates(own: readonly Definition[], listed: readonly Definition[]): Definition[] {
  const taken = new Set<string>();
  const templates = own.flatMap((each) =>
    each.kind === "resource_template" ? [compileUriTemplate(each.uriTemplate)] : []
  );
  const isOwn = (each: Definition): boolean =>
    each.kind === "resource" && isUpstreamDefinition(each) && each.uri === each.originalName &&
    templates.some((match) => match(each.uri));
  return [...own, ...listed].filter((each) => {
    const identity = identityOf(each);
    return !taken.has(identity) && !isOwn(each) && taken.add(identity);
  });
}

/** What distinguishes callers, beginning with the user: a principal has the same view under the same key. */
function callerKey(principal: Principal | undefined): string {
  const user = userKey(principal) + END_OF_USER;
  if (!principal) return user;
  const { client, workspace, scopes } = principal;
  return user + JSON.stringify([client, workspace, [...scopes].sort()]);
}

/** Keeps a value as the newest of at most `max`. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value!);
}
