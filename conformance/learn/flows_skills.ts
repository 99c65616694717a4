/**
 * The flow of a skill, from its upload to those who use it.
 *
 * @module
 */
import type { Flow } from "./flow.ts";

export const SKILL: Flow = {
  name: "skill",
  title: "A skill from upload to use",
  about: "Know-how as a folder: published, found, fetched, improved, and taken away again.",
  points: [
    {
      fits: { endpoint: "skills", method: "POST" },
      says: "A folder with a SKILL.md is uploaded, file by file. Its front matter says what it is called.",
      rows: ["skills-api#create/1", "skills-package#skill-md/1", "skills-package#name/1"],
    },
  ],
  parts: [
    { says: "Files become a skill.", vector: "skills/create/whole-object" },
    { says: "So do the same files as an archive.", vector: "skills/create/archive-with-folder" },
    { says: "A folder without SKILL.md is no skill.", vector: "skills/create/no-skill-md" },
    { says: "A name is what folders and links can carry.", vector: "skills/package/name-with-capital" },
    {
      says: "Archives come from strangers: a path in one leads nowhere else.",
      vector: "skills/archive/path-dots",
    },
    {
      says: "Nor does a link in one.",
      vector: "skills/archive/kind-link",
    },
    { says: "The skill is improved.", vector: "skills/versions/becomes-newest" },
    { says: "Who pinned a version keeps what they had.", vector: "skills/versions/old-stays" },
    { says: "An agent fetches it.", vector: "skills/content/archive-in-one-folder" },
    { says: "Agents that hold no key find what is public.", vector: "skills/discovery/index" },
    { says: "And know that they got what was listed.", vector: "skills/discovery/digest" },
    { says: "What is private is nobody else's.", vector: "skills/content/other-workspace" },
    { says: "The skill goes, with all its versions.", vector: "skills/delete/with-versions" },
  ],
};
