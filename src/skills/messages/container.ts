/**
 * The `container` of a messages request: its skills, and the record that keeps them for later requests of the conversation.
 * There is no sandbox behind it.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { randomBytes } from "../../crypto/secret.ts";
import type { Key, Store } from "../../store/store.ts";
import { quoteInput, SkillError } from "../error.ts";
import { CROCKFORD_BASE32 } from "../identifier.ts";
import type { OpenSkill, SkillLibrary } from "../disclosure/library.ts";
import { invalid, isObject } from "./request.ts";

/** `container`, checked: an id, skills, or both. */
export interface ContainerParameter {
  readonly id: string | undefined;
  /** `undefined` keeps what the container has; a list, also an empty one, replaces it. */
  readonly skills: readonly SkillParameter[] | undefined;
}

export interface SkillParameter {
  readonly type: "custom";
  readonly skill_id: string;
  readonly version: string;
}

/**
 * The record; every response writes it anew, and it expires 30 days later. Uploaded skills keep their versions, local ones
 * are always the current ones.
 */
export interface Container {
  readonly id: string;
  readonly skills: readonly SkillParameter[];
}

export const containerKey = (workspace: string, id: string): Key => ["container", workspace, id];

/** Lifetime after the last use. */
const CONTAINER_LIFETIME_MS = 30 * 86_400_000;
const OWN_ID = /^container_01[0-9A-HJKMNP-TV-Z]{24}$/;

export function newContainerId(): string {
  return "container_01" + Array.from(randomBytes(24), (byte) => CROCKFORD_BASE32[byte & 31]).join("");
}

/** Whether the id has Trivet's format. */
export function isOwnContainer(id: string): boolean {
  return OWN_ID.test(id);
}

/** The parameter; `undefined` when the request omits it. @throws {SkillError} that names the member */
export function readContainer(value: unknown, maxSkills: number): ContainerParameter | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return { id: checkId("container", value), skills: undefined };
  if (!isObject(value)) throw invalid("container", "must be an id or an object with id and skills");
  const { id, skills } = value;
  if (id !== undefined && id !== null && typeof id !== "string") {
    throw invalid("container.id", "must be a string");
  }
  return {
    id: typeof id === "string" ? checkId("container.id", id) : undefined,
    skills: skills === undefined || skills === null ? undefined : readSkills(skills, maxSkills),
  };
}

function checkId(place: string, id: string): string {
  if (id === "") throw invalid(place, "must not be empty. Omit it to create a new container.");
  return id;
}

function readSkills(skills: unknown, maxSkills: number): SkillParameter[] {
  if (!Array.isArray(skills)) throw invalid("container.skills", "must be an array");
  if (skills.length > maxSkills) {
    throw invalid(
      "container.skills",
      `must contain at most ${maxSkills} skills, but contains ${skills.length}`,
    );
  }
  const ids = new Set<string>();
  return skills.map((skill, index) => {
    const place = `container.skills.${index}`;
    if (!isObject(skill)) throw invalid(place, "must be an object with type and skill_id");
    const { type, skill_id, version } = skill;
    if (type !== "custom" && type !== "anthropic") {
      throw invalid(`${place}.type`, 'must be "custom" or "anthropic"');
    }
    if (typeof skill_id !== "string" || skill_id === "") {
      throw invalid(`${place}.skill_id`, "must be a skill id");
    }
    if (version !== undefined && version !== null && (typeof version !== "string" || version === "")) {
      throw invalid(`${place}.version`, 'must be a version string or "latest"');
    }
    if (type === "anthropic") {
      throw new SkillError(
        "not_found_error",
        `${place}: pre-built skill ${quoteInput(skill_id)} not found. ` +
          'This server has only custom skills: upload a skill and use "type": "custom".',
      );
    }
    if (ids.has(skill_id)) {
      throw invalid(`${place}.skill_id`, `duplicate skill ${quoteInput(skill_id)}`);
    }
    ids.add(skill_id);
    return { type, skill_id, version: typeof version === "string" ? version : "latest" };
  });
}

/** The record of a container. @throws {SkillError} when the workspace has no such container */
export async function findContainer(store: Store, workspace: string, id: string): Promise<Container> {
  const entry = await store.get<Container>(containerKey(workspace, id));
  if (entry) return entry.value;
  throw new SkillError(
    "not_found_error",
    `container: ${
      quoteInput(id)
    } was not found or has expired. Omit the id and list the skills to create a new one.`,
  );
}

/** Saves the skills with their versions. Resolves to the time of expiry, in milliseconds since the epoch. */
export async function saveContainer(
  store: Store,
  workspace: string,
  id: string,
  skills: readonly OpenSkill[],
  now: number,
): Promise<number> {
  const expires = now + CONTAINER_LIFETIME_MS;
  const value: Container = {
    id,
    skills: skills.map(({ id, source, version }) => ({
      type: "custom",
      skill_id: id,
      // Only the current files of a local skill exist.
      version: source === "local" ? "latest" : version,
    })),
  };
  await store.commit({ set: [{ key: containerKey(workspace, id), value, expires }] });
  return expires;
}

/**
 * The skills at their versions, in order.
 * @throws {SkillError} for an unknown skill, and for two with one name, because they would share a folder
 */
export async function openSkills(
  library: SkillLibrary,
  principal: Principal,
  skills: readonly SkillParameter[],
): Promise<OpenSkill[]> {
  const open = await Promise.all(skills.map(async ({ skill_id, version }, index) => {
    try {
      return await library.open(principal, skill_id, version);
    } catch (error) {
      if (!(error instanceof SkillError)) throw error;
      const { type, message, status, problems } = error;
      throw new SkillError(type, `container.skills.${index}: ${message}`, { status, problems, cause: error });
    }
  }));
  open.forEach(({ id, name }, index) => {
    const first = open.findIndex((each) => each.name === name);
    if (first === index) return;
    throw invalid(
      `container.skills.${index}`,
      open[first]!.id === id
        ? `duplicate skill ${quoteInput(id)}`
        : `duplicate skill name: ${quoteInput(name)} is also the name of ${quoteInput(open[first]!.id)}`,
    );
  });
  return open;
}

/** The `container` member of a response. */
export function writeContainer(
  id: string,
  expires: number,
  skills: readonly OpenSkill[],
  byEpoch: boolean,
): Record<string, unknown> {
  return {
    id,
    expires_at: new Date(expires).toISOString(),
    skills: skills.length === 0 ? null : skills.map(({ id, version, epoch }) => ({
      type: "custom",
      skill_id: id,
      version: byEpoch ? epoch : version,
    })),
  };
}
