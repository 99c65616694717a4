/**
 * Skills for other services, level by level: name and description, instructions, files. Includes uploaded skills of the
 * caller's workspace, and local skills, which everyone may read.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Store } from "../../store/store.ts";
import type { Ledger } from "../blobs/blob_ledger.ts";
import type { Directory } from "../local/directory.ts";
import { type Disclose, discloseEntries } from "./disclosure.ts";
import type { IsOffered, SkillEntries } from "./entries.ts";
import { SkillError } from "../error.ts";
import { countLinesBefore, findSkill, openLocal, type OpenSkill, openUploaded } from "./library.ts";
import { mediaTypeOf } from "../package/media_type_of.ts";
import { mayRead } from "../permission.ts";
import type { Skill } from "../records.ts";
import { estimateFileTokens } from "../package/tokens.ts";
import { readSkills } from "../publishing/read_skills.ts";
import { findVersion } from "../publishing/versions.ts";

export interface Catalog extends SkillEntries {
  /** @param isOffered which skills are in the list. @default all */
  list(principal: Principal | undefined, isOffered?: IsOffered): Promise<CatalogList>;
  /** The id and the path of the skill that `load` and `read` find; `undefined` for an unknown skill. */
  locate(
    principal: Principal | undefined,
    skill: string,
  ): Promise<{ readonly id: string; readonly path: readonly string[] } | undefined>;
  load(principal: Principal | undefined, skill: string): Promise<CatalogSkill | undefined>;
  read(
    principal: Principal | undefined,
    skill: string,
    path: string,
  ): Promise<{ bytes: Uint8Array; mediaType: string; place: readonly string[] } | undefined>;
}

export interface CatalogEntry {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly source: "local" | "custom";
}

/** The skills that a caller may see, and which were omitted. */
export interface CatalogList {
  readonly skills: readonly CatalogEntry[];
  readonly omitted: {
    /** Uploaded skills whose name another skill with precedence has. */
    readonly shadowed: number;
    /** Whether there are older uploaded skills that were not read. */
    readonly older: boolean;
  };
}

export interface CatalogSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly files: readonly string[];
  /** Lines of SKILL.md before the instructions. */
  linesBefore(): Promise<number>;
}

/** Uploaded skills in one list, newest first; others can be found by id or name. */
const MAX_UPLOADED_SKILLS = 500;

/** The catalogue of a store and local folders; calls `disclose` for every level that a caller gets. */
export function createCatalog(
  store: Store,
  ledger: Ledger,
  directory: Directory,
  entries: SkillEntries,
  disclose: Disclose,
): Catalog {
  async function listUploaded(principal: Principal | undefined): Promise<Skill[]> {
    if (!principal || !mayRead(principal)) return [];
    const found = await readSkills(store, principal.workspace, { limit: MAX_UPLOADED_SKILLS + 1 });
    return found.map(({ value }) => value);
  }

  async function open(principal: Principal | undefined, skill: string): Promise<OpenSkill | undefined> {
    const found = await findSkill(store, directory, principal, skill);
    if (!found) return undefined;
    if ("local" in found) return openLocal(found.local);
    const version = await findVersion(store, found.workspace, found.uploaded, "latest");
    return version && openUploaded(ledger, found.uploaded.id, version.value);
  }

  return {
    ...discloseEntries(entries, disclose),

    async list(principal, isOffered = () => true) {
      const workspace = principal?.workspace;
      const listed: CatalogEntry[] = [];
      const taken = new Set<string>();
      for (const { id, name, description, version, tokens } of await directory.skills()) {
        // Also where it is not offered: `load` finds it by this name.
        taken.add(name);
        if (!isOffered([name])) continue;
        listed.push({ id, name, description, source: "local" });
        disclose({ workspace, id, name, version, level: 1, tokens: tokens.metadata });
      }
      const uploaded = await listUploaded(principal);
      let shadowed = 0;
      for (const { id, name, description, latest, tokens } of uploaded.slice(0, MAX_UPLOADED_SKILLS)) {
        // A skill without a version cannot be loaded.
        if (!latest) continue;
        if (taken.has(name)) {
          shadowed++;
          continue;
        }
        taken.add(name);
        if (!isOffered([id, name])) continue;
        listed.push({ id, name, description, source: "custom" });
        disclose({ workspace, id, name, version: latest.id, level: 1, tokens: tokens.metadata });
      }
      return { skills: listed, omitted: { shadowed, older: uploaded.length > MAX_UPLOADED_SKILLS } };
    },

    async locate(principal, skill) {
      const found = await findSkill(store, directory, principal, skill);
      if (!found) return undefined;
      if ("local" in found) return { id: found.local.id, path: [found.local.name] };
      const { id, name } = found.uploaded;
      return { id, path: [id, name] };
    },

    async load(principal, skill) {
      const opened = await open(principal, skill);
      if (!opened) return undefined;
      const { id, name, description } = opened;
      const instructions = await opened.instructions().catch((error) => {
        if (error instanceof SkillError) return undefined;
        throw error;
      });
      if (instructions === undefined) return undefined;
      const { version, tokens } = opened;
      disclose({
        workspace: principal?.workspace,
        id,
        name,
        version,
        level: 2,
        tokens: tokens.instructions,
      });
      const files = (await opened.files()).map(({ path }) => path);
      return {
        id,
        name,
        description,
        instructions,
        files,
        linesBefore: () => countLinesBefore(opened, instructions),
      };
    },

    async read(principal, skill, path) {
      const opened = await open(principal, skill);
      const bytes = await opened?.read(path);
      if (!opened || !bytes) return undefined;
      const { source, id, name, version } = opened;
      const mediaType = mediaTypeOf(path, bytes);
      const tokens = estimateFileTokens(mediaType, bytes.length);
      disclose({ workspace: principal?.workspace, id, name, version, level: 3, tokens, path });
      return { bytes, mediaType, place: source === "local" ? [name] : [id, name] };
    },
  };
}
