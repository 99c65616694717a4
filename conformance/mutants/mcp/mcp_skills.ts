/**
 * Faults in the skills extension of 2026-07-28.
 *
 * @module
 */
import { changeEachMessage } from "../jsonrpc/message_faults.ts";
import type { Mutant } from "../mutant.ts";
import { MCP, retryWithToken } from "./mcp_access.ts";
import {
  answerRefused,
  changeChildren,
  changeEntries,
  changeFiles,
  changeResults,
  changeUris,
  methodOf,
  names,
} from "./skill_faults.ts";

/** Resolves dots and encoded characters in a URI. */
function resolve(uri: string): string {
  const [scheme = "", path = ""] = uri.split("://");
  const segments: string[] = [];
  for (const segment of decodeURIComponent(path).split("/")) {
    if (segment === "..") segments.pop();
    else segments.push(segment);
  }
  return `${scheme}://${segments.join("/")}`;
}

const SOMETHING = { resultType: "complete", contents: [{ uri: "skill://a/SKILL.md", text: "root" }] };

const READS = names(
  "read-unknown-file",
  "read-directory",
  "read-outside",
  "read-outside-encoded",
  "read-outside-encoded-slash",
  "read-outside-backslash",
  "read-absolute",
  "read-nul",
);
const GETS = names(
  "get-unknown",
  "get-file",
  "get-directory",
  "get-directory-slash",
  "get-resource",
  "get-inherited",
  "get-traversal",
  "get-encoded",
  "get-empty-segment",
  "get-query",
  "get-fragment",
  "get-in-another-case",
  "get-without-uri",
  "get-number",
);

export const MCP_SKILLS: readonly Mutant[] = [
  {
    name: "mcp/skills-undeclared",
    fault: "Does not declare the extension",
    wrap: changeResults(/^server\/discover$/, ({ capabilities }) => delete Object(capabilities).extensions),
    killedBy: names("declared", "directory-declared"),
    mayFail: { "It declares another extension there": ["mcp/tasks/declared"] },
  },
  {
    name: "mcp/skills-without-resources",
    fault: "Does not declare resources beside the extension",
    wrap: changeResults(/^server\/discover$/, ({ capabilities }) => delete Object(capabilities).resources),
    killedBy: names("declared"),
  },
  {
    name: "mcp/skills-not-cached",
    fault: "Leaves out ttlMs and cacheScope",
    wrap: changeResults(/^skills\//, (result) => {
      delete result["ttlMs"];
      delete result["cacheScope"];
    }),
    killedBy: names("listed", "got"),
  },
  {
    name: "mcp/skills-frontmatter-in-part",
    fault: "Returns only name and description of the frontmatter",
    wrap: changeEntries((entry) => {
      const { name, description } = Object(entry["frontmatter"]);
      entry["frontmatter"] = { name, description };
    }),
    killedBy: names("entry", "got"),
  },
  {
    name: "mcp/skills-path-differs",
    fault: "Lists skills at a path that does not end with their name",
    wrap: changeEntries((entry) => {
      entry["uri"] = String(entry["uri"]).replace("/SKILL.md", "-1/SKILL.md");
    }),
    killedBy: names("entry", "got"),
    mayFail: { "It gets the skill that is listed": names("got-as-listed") },
  },
  {
    name: "mcp/skills-file-omitted",
    fault: "Leaves files in directories out of the entry",
    wrap: changeEntries((entry) => {
      entry["resources"] = Object(entry["resources"]).slice(0, 1);
    }),
    killedBy: names("entry", "got"),
  },
  {
    name: "mcp/skills-without-itself",
    fault: "Leaves SKILL.md out of the entry",
    wrap: changeEntries((entry) => {
      entry["resources"] = Object(entry["resources"]).slice(1);
    }),
    killedBy: names("entries", "entry", "got"),
  },
  {
    name: "mcp/skills-file-twice",
    fault: "Lists a file twice",
    wrap: changeEntries((entry) => {
      const files = Object(entry["resources"]);
      entry["resources"] = [...files, files[0]];
    }),
    killedBy: names("entries", "entry", "got"),
  },
  {
    name: "mcp/skills-digest-in-capitals",
    fault: "Writes digests in upper case",
    wrap: changeFiles((file) => {
      file["digest"] = `sha256:${String(file["digest"]).slice(7).toUpperCase()}`;
    }),
    killedBy: names("entries", "entry", "got"),
  },
  {
    name: "mcp/skills-size-in-kilobytes",
    fault: "Rounds sizes to kilobytes",
    wrap: changeFiles((file) => {
      file["size"] = Math.ceil(Number(file["size"]) / 1024);
    }),
    killedBy: names("entry", "got"),
  },
  {
    name: "mcp/skills-got-in-part",
    fault: "Returns no digests for a single skill",
    wrap: changeEntries((entry) => {
      entry["resources"] = "dynamic";
    }, /^skills\/get$/),
    killedBy: names("got", "got-as-listed"),
  },
  {
    name: "mcp/skills-every-uri-got",
    fault: "Finds a skill for every URI",
    wrap: answerRefused("skills/get", { resultType: "complete", skill: {} }),
    killedBy: GETS,
    mayFail: { "They expect an error of their own": names("list-without-token", "get-without-token") },
  },
  {
    name: "mcp/skills-uri-resolved",
    fault: "Resolves dots and encoded characters in URIs",
    wrap: changeUris(/^skills\/get$/, resolve),
    killedBy: names("get-traversal", "get-encoded"),
  },
  {
    name: "mcp/skills-uri-in-any-case",
    fault: "Finds skills by their URI in another case",
    wrap: changeUris(/^skills\/get$/, (uri) => uri.replace(/^.*(?=\/SKILL)/, (text) => text.toLowerCase())),
    killedBy: names("get-in-another-case"),
  },
  {
    name: "mcp/skills-uri-shortened",
    fault: "Ignores query, fragment and empty segments of URIs",
    wrap: changeUris(
      /^skills\/get$/,
      (uri) => uri.replace(/[?#].*/, "").replace(/([^:])\/\//, "$1/"),
    ),
    killedBy: names("get-query", "get-fragment", "get-empty-segment"),
  },
  {
    name: "mcp/skills-by-directory",
    fault: "Finds a skill by its directory, and by each of its files",
    wrap: changeUris(/^skills\/get$/, (uri) => uri.replace(/^(skill:\/\/[a-z-]+)(\/.*)?$/, "$1/SKILL.md")),
    killedBy: names("get-file", "get-directory", "get-directory-slash"),
    mayFail: { "They name a file of the skill": names("get-") },
  },
  {
    name: "mcp/skills-cursors-ignored",
    fault: "Ignores cursors",
    wrap: changeEachMessage(MCP, (call) => {
      if (!/^(skills\/list|resources\/directory\/read)$/.test(String(call["method"]))) return call;
      const { cursor: _, ...params } = Object(call["params"]);
      return { ...call, params };
    }),
    killedBy: names("cursor-invalid", "directory-cursor-invalid"),
  },
  {
    name: "mcp/skills-read-as-text",
    fault: "Reads SKILL.md as text/plain, without its frontmatter",
    wrap: changeResults(/^resources\/read$/, ({ contents }) => {
      for (const content of Object(contents)) {
        if (!String(content.uri).endsWith("/SKILL.md")) continue;
        content.mimeType = "text/plain";
        content.text = String(content.text).replace(/^---\n[^]*?\n---\n/, "");
      }
    }),
    killedBy: names("read-skill"),
  },
  {
    name: "mcp/skills-read-in-part",
    fault: "Cuts the last character of files",
    wrap: changeResults(/^resources\/read$/, ({ contents }) => {
      for (const content of Object(contents)) if (content.text) content.text = content.text.slice(0, -1);
    }),
    killedBy: names("read-file"),
  },
  {
    name: "mcp/skills-read-outside",
    fault: "Reads files that no skill has",
    wrap: answerRefused("resources/read", SOMETHING, (uri) => String(uri).startsWith("skill://")),
    killedBy: READS,
  },
  {
    name: "mcp/skills-directory-recursive",
    fault: "Lists the files of directories below",
    wrap: changeChildren((child, all) => {
      if (child["mimeType"] === "inode/directory") all.push({ ...child, uri: `${child["uri"]}/template.md` });
    }),
    killedBy: names("directory-of-a-skill"),
  },
  {
    name: "mcp/skills-directory-with-slash",
    fault: "Writes a slash at the end of directories",
    wrap: changeChildren((child) => {
      if (child["mimeType"] === "inode/directory") child["uri"] = `${child["uri"]}/`;
    }),
    killedBy: names("directory-of-a-skill"),
  },
  {
    name: "mcp/skills-directory-as-files",
    fault: "Gives directories and files the media type of each other",
    wrap: changeChildren((child) => {
      child["mimeType"] = child["mimeType"] === "inode/directory" ? "text/plain" : "inode/directory";
    }),
    killedBy: names("directory-of-a-skill", "directory-below", "directory-describes"),
  },
  {
    name: "mcp/skills-directory-undescribed",
    fault: "Names SKILL.md after its file",
    wrap: changeChildren((child) => {
      child["name"] = String(child["uri"]).split("/").at(-1);
      delete child["description"];
    }),
    killedBy: names("directory-describes"),
  },
  {
    name: "mcp/skills-directory-of-anything",
    fault: "Finds an empty directory for every URI",
    wrap: answerRefused("resources/directory/read", { resultType: "complete", resources: [] }),
    killedBy: names(
      "directory-file",
      "directory-unknown",
      "directory-of-unknown-skill",
      "directory-half-name",
      "directory-outside",
      "directory-outside-encoded",
      "directory-inherited",
    ),
    mayFail: { "It is refused for its cursor": names("directory-cursor-invalid") },
  },
  {
    name: "mcp/skills-directory-by-prefix",
    fault: "Finds a directory by the beginning of its name",
    wrap: changeUris(/directory/, (uri) => uri.replace(/\/reference$/, "/references")),
    killedBy: names("directory-half-name"),
  },
  {
    name: "mcp/skills-without-token",
    fault: "Serves skills without a token",
    wrap: retryWithToken((request) => methodOf(request).startsWith("skills/")),
    killedBy: names("list-without-token", "get-without-token"),
  },
];
