/**
 * The size limit of a SKILL.md.
 *
 * @module
 */

/** Bytes of a SKILL.md, in uploads and local folders. */
export const MAX_SKILL_MD_BYTES: number = 512 * 1024;
