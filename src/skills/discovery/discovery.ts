/**
 * Skill discovery for clients such as `npx skills add <address>`: indexes and files at well-known URLs
 * (https://www.rfc-editor.org/rfc/rfc8615) below the issuer's path. There is no authentication here, so only skills of
 * `public_skills.ts` are served, and a path is looked up among a skill's files, never joined to a folder.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import { answerPreflight } from "../../http/cors/preflight.ts";
import { isUnchanged } from "../../http/entity_tag.ts";
import {
  type Fields,
  NO_STORE,
  respond,
  respondText,
  SERVER_FAILED,
  STORE_UNAVAILABLE,
} from "../../http/response.ts";
import { pathOf } from "../../http/router.ts";
import type { Service } from "../../http/service.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { createIndexes, type IndexDocument } from "./discovery_index.ts";
import { createFlatArchives } from "../archive/flat_archive.ts";
import { mediaTypeOf } from "../package/media_type_of.ts";
import { digestOf } from "../content_digest.ts";
import { createPublicSkills, type PublicFile, type PublicSkillsOptions } from "./public_skills.ts";

export interface DiscoveryOptions extends PublicSkillsOptions {
  /** The issuer's own path: `""` or `/tenant`. */
  readonly base: string;
  readonly observe: Observe;
  readonly now: () => number;
}

export interface Discovery extends Service {
  /** Whether a request is for discovery. */
  covers(request: Request): boolean;
}

const CURRENT = "/.well-known/agent-skills/";
const OLDER = "/.well-known/skills/";
const METHODS = "GET, HEAD, OPTIONS";
const NOT_FOUND = "Skill or file not found.";
const MARKDOWN = "text/markdown; charset=utf-8";
/** Clients must revalidate, so that an index and its artifacts match. */
const SHARED: Fields = [
  ["cache-control", "public, no-cache"],
  ["access-control-allow-origin", "*"],
  ["access-control-expose-headers", "etag"],
  ["x-content-type-options", "nosniff"],
  // The files are untrusted, and this host also serves login pages.
  ["content-security-policy", "default-src 'none'; sandbox"],
];

/** The content of a response. */
interface Content {
  readonly type: string;
  readonly size: number;
  /** With its quotes. */
  readonly tag: string;
  /** `undefined` when it was removed. */
  open(): Promise<ReadableStream<Uint8Array> | Uint8Array | undefined>;
}

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { base, store, observe, now } = options;
  const skills = createPublicSkills(options);
  const archives = createFlatArchives(store, now);
  const indexes = createIndexes(skills, archives, now);

  /** The content at a path below one of the two well-known URLs. */
  async function find(place: string, path: string): Promise<Content | undefined> {
    if (path === "index.json") {
      return toIndex(await (place === CURRENT ? indexes.current() : indexes.older()));
    }
    const [first = "", ...rest] = path.split("/");
    const [, name, zip] = /^([a-z0-9]+(?:-[a-z0-9]+)*)(\.zip)?$/.exec(first) ?? [];
    if (name === undefined || (zip !== undefined) !== (rest.length === 0)) return undefined;
    const skill = await skills.find(name);
    const files = await skill?.files();
    if (!skill || !files) return undefined;
    if (zip === undefined) {
      const file = lookUp(files, rest);
      return file && (skill.isUploaded ? toFile(file) : await readFile(file));
    }
    const flat = await archives.of(files, skill.isUploaded);
    return flat && {
      type: "application/zip",
      size: flat.archive.length,
      tag: flat.tag,
      open: () => Promise.resolve(flat.archive.stream()),
    };
  }

  function placeOf(request: Request): { place: string; path: string } | undefined {
    const path = pathOf(request.url);
    const place = [CURRENT, OLDER].find((place) => path.startsWith(base + place));
    return place === undefined ? undefined : { place, path: path.slice(base.length + place.length) };
  }

  async function answer(request: Request): Promise<Response> {
    const { method } = request;
    if (method === "OPTIONS") return respond(204, null, [["allow", METHODS], ...SHARED]);
    if (method !== "GET" && method !== "HEAD") {
      return refuse(405, `Method not allowed. Allowed: ${METHODS}.`, [["allow", METHODS]]);
    }
    const { place, path } = placeOf(request) ?? { place: "", path: "" };
    const content = await find(place, path);
    if (!content) return refuse(404, NOT_FOUND);
    const { tag, size, type } = content;
    if (isUnchanged(request, tag)) return respond(304, null, [["etag", tag], ...SHARED]);
    const body = method === "HEAD" ? null : await content.open();
    if (body === undefined) return refuse(404, NOT_FOUND);
    return respond(200, body as BodyInit | null, [
      ["content-type", type],
      ["content-length", String(size)],
      ["etag", tag],
      ...SHARED,
    ]);
  }

  return {
    mounts: [CURRENT, OLDER],
    covers: (request) => placeOf(request) !== undefined,
    async fetch(request) {
      const preflight = answerPreflight(request, "GET, HEAD");
      if (preflight) return preflight;
      try {
        return await answer(request);
      } catch (error) {
        if (error instanceof StoreUnavailableError) {
          observe({ type: "store_unavailable", where: "skills", error });
          const retry: Fields = [["retry-after", String(error.retryAfter)]];
          return refuse(503, STORE_UNAVAILABLE, retry);
        }
        observe({ type: "fault", where: "skills", error });
        return refuse(500, SERVER_FAILED);
      }
    },
  };
}

function toIndex({ bytes, tag }: IndexDocument): Content {
  return { type: "application/json", size: bytes.length, tag, open: () => Promise.resolve(bytes) };
}

/** A file of an uploaded skill: it never changes. */
function toFile({ path, size, type, digest, open }: PublicFile): Content {
  return { type: typeOf(path, type), size, tag: `"${digest}"`, open };
}

/** A file of a local skill: it may have changed since it was listed. */
async function readFile(file: PublicFile): Promise<Content | undefined> {
  const content = await file.open();
  if (!(content instanceof Uint8Array)) return undefined;
  return {
    type: typeOf(file.path, mediaTypeOf(file.path, content)),
    size: content.length,
    tag: `"${await digestOf(content)}"`,
    open: () => Promise.resolve(content),
  };
}

function typeOf(path: string, type = "application/octet-stream"): string {
  return path === "SKILL.md" ? MARKDOWN : type;
}

/**
 * The file at a path, percent-encoded or (v0.1 clients with a `%`) not. An encoded slash is not a separator.
 */
function lookUp(files: readonly PublicFile[], segments: readonly string[]): PublicFile | undefined {
  const decoded = segments.map(decode);
  if (decoded.some((segment) => segment === undefined || segment.includes("/"))) return undefined;
  const [meant, sent] = [decoded.join("/"), segments.join("/")];
  return files.find(({ path }) => path === meant) ?? files.find(({ path }) => path === sent);
}

/** Percent-decodes as the URL standard does. `undefined` when the result is not UTF-8. */
function decode(segment: string): string | undefined {
  try {
    return segment.replace(/(?:%[0-9a-f]{2})+/gi, decodeURIComponent);
  } catch {
    return undefined;
  }
}

function refuse(status: 404 | 405 | 500 | 503, message: string, more: Fields = []): Response {
  return respondText(status, message, [
    NO_STORE,
    ["access-control-allow-origin", "*"],
    ...more,
  ]);
}
