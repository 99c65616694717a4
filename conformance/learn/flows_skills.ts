/**
 * The flow of a skill, from upload to use.
 *
 * @module
 */
import type { Flow } from "./flow.ts";

export const SKILL: Flow = {
  name: "skill",
  title: "A skill from upload to use",
  summary: "A skill is a folder of instructions: uploaded, found, downloaded, updated and deleted.",
  explanations: [
    {
      exchange: { endpoint: "skills", method: "POST" },
      text: "A folder with a SKILL.md is uploaded file by file. The front matter has its name.",
      rows: ["skills-api#create/1", "skills-package#skill-md/1", "skills-package#name/1"],
    },
  ],
  parts: [
    { text: "Uploaded files become a skill.", vector: "skills/create/whole-object" },
    { text: "An uploaded archive becomes a skill too.", vector: "skills/create/archive-with-folder" },
    { text: "A folder without SKILL.md is refused.", vector: "skills/create/no-skill-md" },
    { text: "A name must be valid in folders and URLs.", vector: "skills/package/name-with-capital" },
    {
      text: "A path that leads out of the archive is refused.",
      vector: "skills/archive/path-dots",
    },
    {
      text: "A symbolic link in an archive is refused.",
      vector: "skills/archive/kind-link",
    },
    { text: "A new version becomes the newest.", vector: "skills/versions/becomes-newest" },
    { text: "Earlier versions stay available.", vector: "skills/versions/old-stays" },
    { text: "A client downloads the skill.", vector: "skills/content/archive-in-one-folder" },
    { text: "Clients without a key find public skills.", vector: "skills/discovery/index" },
    { text: "The digest shows that the download is the listed one.", vector: "skills/discovery/digest" },
    { text: "A private skill is not visible in other workspaces.", vector: "skills/content/other-workspace" },
    { text: "The skill is deleted with all its versions.", vector: "skills/delete/with-versions" },
  ],
};
