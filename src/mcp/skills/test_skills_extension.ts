/**
 * A server with the extension for skills, and requests to it. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import type { ToolServer, ToolServerOptions } from "../service.ts";
import { type Message, modern } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";
import type { SkillEntry, SkillSource } from "./skills.ts";
import { skillsExtension } from "./skills_extension.ts";
import { browseEntries } from "./test_skill_source.ts";

/** Headers of a caller who sees `PRIVATE`. */
export const WRITER: { authorization: string } = { authorization: "Bearer writer" };

export interface TestSkill {
  readonly path: string;
  readonly files: Readonly<Record<string, string | Uint8Array | null>>;
  /** The caller who may see it; every caller if absent. */
  readonly client?: string;
  readonly more?: Record<string, unknown>;
}

/** An entry with invented digests; a file with `null` has no digest. */
function toEntry({ path, files, client, more }: TestSkill): SkillEntry {
  const segments = path.split("/");
  const name = segments.at(-1)!;
  return {
    path: segments,
    frontMatter: { name, description: `What ${name}\ndoes`, ...more },
    isPublic: client === undefined,
    files: () =>
      Promise.resolve(
        Object.entries(files).map(([path, content]) => ({
          path,
          size: content?.length ?? 1,
          type: path.endsWith(".md") ? "text/markdown" : undefined,
          digest: content === null ? undefined : `sha256:${path}`,
        })),
      ),
    read(path) {
      const content = Object.hasOwn(files, path) ? files[path] ?? "?" : undefined;
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      return Promise.resolve(
        bytes && { bytes, mediaType: path.endsWith(".png") ? "image/png" : "text/markdown" },
      );
    },
  };
}

export function sourceOf(skills: readonly TestSkill[]): SkillSource {
  const visible = (principal: Principal | undefined) =>
    skills.filter(({ client }) => client === undefined || client === principal?.client).map(toEntry);
  return {
    list: () => Promise.resolve({ skills: [], omitted: { shadowed: 0, older: false } }),
    load: () => Promise.resolve(undefined),
    read: () => Promise.resolve(undefined),
    ...browseEntries(visible),
  };
}

export const DEMO: TestSkill = {
  path: "demo",
  files: {
    "SKILL.md": "\ufeff---\nname: demo\n---\nÄ",
    "a b.md": "x",
    "templates/one.md": "1",
    "templates/deep/er/two.md": "2",
    "templates/z.png": Uint8Array.of(0, 255),
  },
  more: { license: "MIT", metadata: { version: 1.5, tags: [null, true] } },
};
export const PRIVATE: TestSkill = { path: "skill_01/demo", files: { "SKILL.md": "mine" }, client: "writer" };
export const LARGE: TestSkill = { path: "large", files: { "SKILL.md": null, "a/b.txt": null } };

export function newSkillServer(
  skills: readonly TestSkill[] = [DEMO, LARGE, PRIVATE],
  options: Partial<ToolServerOptions> = {},
): ToolServer {
  return newServer({ definitions: [], extensions: [skillsExtension(sourceOf(skills))], ...options }).server;
}

type Ask = (
  server: ToolServer,
  method: string,
  params?: Record<string, unknown>,
  headers?: Record<string, string>,
) => Promise<Message>;

/** The result of a request that succeeds. */
export const ask: Ask = async (server, method, params = {}, headers = {}) => {
  const { answer } = await modern(server, method, params, { headers });
  assert.ok(answer.result, JSON.stringify(answer));
  assert.is(answer.result.resultType, "complete");
  return answer.result;
};

/** The error of a request that is refused. */
export const refusal: Ask = async (server, method, params = {}, headers = {}) => {
  const { answer } = await modern(server, method, params, { headers });
  assert.ok(answer.error, JSON.stringify(answer));
  return answer.error;
};
