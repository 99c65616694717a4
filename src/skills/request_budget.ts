/**
 * Upper limits for what one request to the Skills service costs the server: the numbers of the table in `README.md`, for
 * tests and fuzzers.
 *
 * @module
 */

export interface SkillsRequestBudget {
  /** Calls of the store, and for each file and each mebibyte of the version that is written, read whole or removed. */
  readonly storeCalls: number;
  readonly storeCallsPerFile: number;
  readonly storeCallsPerMebibyte: number;
  /** Bytes of keys and values that are written, for each such file, and for each byte of the unpacked upload. */
  readonly storedBytes: number;
  readonly storedBytesPerFile: number;
  readonly storedBytesPerByte: number;
}

export type SkillsRequestKind = "read" | "download" | "validate" | "publish" | "remove";

const NOTHING_STORED = { storedBytes: 0, storedBytesPerFile: 0, storedBytesPerByte: 0 };

/** By kind of request. Each lost race against another writer of the same skill counts once more. */
export const SKILLS_REQUEST_BUDGETS: Readonly<Record<SkillsRequestKind, SkillsRequestBudget>> = {
  /** `GET` of skills, versions, files, pages and usage. Each 100 skills of a page after the first 100 are one call more. */
  read: { storeCalls: 6, storeCallsPerFile: 0, storeCallsPerMebibyte: 0, ...NOTHING_STORED },
  /** `GET …/content`: an archive of all files. */
  download: { storeCalls: 6, storeCallsPerFile: 2, storeCallsPerMebibyte: 2, ...NOTHING_STORED },
  /** `POST /v1/skills/validate`. */
  validate: { storeCalls: 2, storeCallsPerFile: 0, storeCallsPerMebibyte: 0, ...NOTHING_STORED },
  /** `POST /v1/skills` and `…/versions`. */
  publish: {
    storeCalls: 20,
    storeCallsPerFile: 4,
    storeCallsPerMebibyte: 1,
    storedBytes: 8 * 1024,
    storedBytesPerFile: 1280,
    storedBytesPerByte: 1,
  },
  /** `DELETE` of a skill or version. */
  remove: {
    storeCalls: 20,
    storeCallsPerFile: 12,
    storeCallsPerMebibyte: 1,
    storedBytes: 2048,
    storedBytesPerFile: 640,
    storedBytesPerByte: 0,
  },
};
