/**
 * The options of the Skills service that a user gives: defaults and checks.
 *
 * @module
 */
import { checkMade, checkNames, checkOneOf, checkWhole, invalidOption, type Names } from "./option_check.ts";
import type { BlobStore } from "../skills/blobs/blob_store.ts";
import type { SkillFolder } from "../skills/local/folder.ts";
import type { MarkerRule } from "../skills/messages/markers.ts";
import type { Upstream } from "../skills/messages/upstream_options.ts";
import type { MarkdownRules } from "../skills/package/rules.ts";
import type { SkillsServiceOptions } from "../skills/service.ts";

/** Options of the Skills service. */
export interface SkillsOptions {
  /** Local folders whose skills are served in place; runtime entries create them (`trivet/skill-folder`). @default none */
  readonly folders?: readonly SkillFolder[];
  /** Where the files of uploaded skills are kept: {@linkcode s3Blobs}, say. @default the store */
  readonly blobs?: BlobStore;
  /** The limits of the hosted API of today: 30 MB an upload, 20 skills a request. Other options override it. */
  readonly preset?: "ga";
  /** Bytes of an upload, packed and unpacked. @default 8388608 */
  readonly uploadLimit?: number;
  /** What uploads are refused for beyond the rules that `skills/RULES.md` lists. @default unknown keys are kept, reserved names refused */
  readonly packageRules?: MarkdownRules;
  /** How many uploads are taken in at once, and how slow they may be. @default 64 MiB at a time, 80 s of waiting for room, 20 s without a byte, 90 s in all */
  readonly intake?: SkillsServiceOptions["intake"];
  /** Skills that one messages request may use. @default 8 */
  readonly skillsPerRequest?: number;
  /** `POST /v1/messages`. `false` disables it. @default the scripted model answers */
  readonly messages?: MessagesSettings | false;
  /**
   * Whether requests with a bearer token, without `x-api-key` and `anthropic-version`, are OpenAI's dialect rather than
   * today's Skills API. @default false
   */
  readonly openai?: boolean;
  /** Whether unknown values of `anthropic-beta` are ignored or refused. @default "ignore" */
  readonly unknownBetas?: "ignore" | "refuse";
  /**
   * The indexes at `/.well-known/agent-skills/` and `/.well-known/skills/`, by which `npx skills add` and its like find
   * skills. They need no key. `false` disables them.
   * @default local skills, or none where the tool server requires a token
   */
  readonly discovery?: DiscoverySettings | false;
  /** `off` lets every caller read and write: for local development. @default "required" */
  readonly auth?: "required" | "off";
}

/** Settings of `POST /v1/messages`. */
export interface MessagesSettings {
  /** The model endpoint that requests go to. @default none: a scripted model answers, offline */
  readonly upstream?: Upstream;
  /**
   * Whether requests with skills must name the three markers in `anthropic-beta`: `auto` asks it of revision 2023-06-01
   * and of requests without a revision.
   * @default "auto"
   */
  readonly markers?: MarkerRule;
  /** Bytes of a request. @default 16777216, which JSON.parse reads without holding the event loop for 50 ms */
  readonly bodyLimit?: number;
  /**
   * Bytes of all requests that one process holds until they are answered; half of it for one caller with several. Others
   * wait for up to 10 seconds, and then get 529.
   * @default 67108864, and at least twice `bodyLimit`
   */
  readonly memory?: number;
  /** Calls to the model within one request, which then pauses. @default 10 */
  readonly mostRounds?: number;
}

/** Settings of `/.well-known/agent-skills`. */
export interface DiscoverySettings {
  /** Whether local skills are public. @default true; where the tool server requires a token, only without `workspaces` */
  readonly local?: boolean;
  /** The workspaces whose uploads are public. Of two skills with the same name, the one of the earlier workspace is served. @default none */
  readonly workspaces?: readonly string[];
}

const MEBIBYTE = 1024 * 1024;

type Completed =
  | "auth"
  | "folders"
  | "blobs"
  | "uploadLimit"
  | "packageRules"
  | "intake"
  | "skillsPerRequest"
  | "messages"
  | "discovery"
  | "openai"
  | "unknownBetas";

/**
 * The options, complete.
 * @param isPublic whether callers without a token get as far as local skills
 * @throws {TypeError | RangeError} naming the option and the rule
 */
export function completeSkills(
  options: SkillsOptions,
  isPublic: boolean,
): Pick<SkillsServiceOptions, Completed> {
  checkMade("skills.blobs", options.blobs, "put", "s3Blobs() of trivet/s3, or another blob store");
  const isGa = options.preset !== undefined && checkOneOf("skills.preset", options.preset, "ga") === "ga";
  return {
    auth: checkOneOf("skills.auth", options.auth, "required", "off"),
    folders: (options.folders ?? []).map(checkFolder),
    blobs: options.blobs,
    uploadLimit: checkWhole(
      "skills.uploadLimit",
      options.uploadLimit ?? (isGa ? 30 : 8) * MEBIBYTE,
      1024,
    ),
    skillsPerRequest: checkWhole("skills.skillsPerRequest", options.skillsPerRequest ?? (isGa ? 20 : 8), 1),
    packageRules: checkRules(options.packageRules ?? {}),
    intake: checkIntake(options.intake ?? {}),
    messages: options.messages === false ? undefined : completeMessages(options.messages ?? {}),
    discovery: completeDiscovery(options.discovery ?? (isPublic ? {} : false), isPublic),
    openai: options.openai ?? false,
    unknownBetas: checkOneOf("skills.unknownBetas", options.unknownBetas, "ignore", "refuse"),
  };
}

/** @throws {TypeError} for the path of a folder, say, in its place */
function checkFolder(folder: SkillFolder): SkillFolder {
  if (typeof folder?.list === "function") return folder;
  throw invalidOption(
    "skills.folders",
    "a list of folders, made by skillFolder() of trivet/skill-folder",
    folder,
  );
}

const RULE_NAMES: Names<MarkdownRules> = { unknownKeys: "unknown", reservedNames: "boolean" };
const INTAKE_NAMES: Names<NonNullable<SkillsOptions["intake"]>> = {
  memory: "number",
  wait: "number",
  idle: "number",
  whole: "number",
};
const DISCOVERY_NAMES: Names<DiscoverySettings> = { local: "boolean", workspaces: "string[]" };
const MESSAGES_NAMES: Names<MessagesSettings> = {
  upstream: "object",
  markers: "unknown",
  bodyLimit: "number",
  memory: "number",
  mostRounds: "number",
};

function checkRules(rules: MarkdownRules): MarkdownRules {
  checkNames("skills.packageRules", rules, RULE_NAMES);
  checkOneOf("skills.packageRules.unknownKeys", rules.unknownKeys, "keep", "refuse");
  return rules;
}

function checkIntake(intake: NonNullable<SkillsOptions["intake"]>): SkillsServiceOptions["intake"] {
  checkNames("skills.intake", intake, INTAKE_NAMES);
  for (const name of ["memory", "wait", "idle", "whole"] as const) {
    const value = intake[name];
    if (value !== undefined) checkWhole(`skills.intake.${name}`, value, 1);
  }
  return intake;
}

function completeDiscovery(
  settings: DiscoverySettings | false,
  isPublic: boolean,
): SkillsServiceOptions["discovery"] {
  if (settings === false) return undefined;
  checkNames("skills.discovery", settings, DISCOVERY_NAMES);
  // Publishing the uploads of a workspace must not publish local skills that are private without it.
  const { local = isPublic || settings.workspaces === undefined, workspaces = [] } = settings;
  if (!Array.isArray(workspaces) || workspaces.some((name) => typeof name !== "string" || name === "")) {
    throw new TypeError(
      'Invalid options: "skills.discovery.workspaces" must be a list of names of workspaces',
    );
  }
  return { local, workspaces: [...new Set(workspaces)] };
}

function completeMessages(settings: MessagesSettings): SkillsServiceOptions["messages"] {
  checkNames("skills.messages", settings, MESSAGES_NAMES);
  return {
    upstream: settings.upstream,
    markers: checkOneOf("skills.messages.markers", settings.markers, "auto", "always", "never"),
    bodyLimit: checkWhole("skills.messages.bodyLimit", settings.bodyLimit ?? 16 * MEBIBYTE, 1024),
    memory: settings.memory === undefined
      ? undefined
      : checkWhole("skills.messages.memory", settings.memory, 1),
    mostRounds: checkWhole("skills.messages.mostRounds", settings.mostRounds ?? 10, 1),
  };
}
