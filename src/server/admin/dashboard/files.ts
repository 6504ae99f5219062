/**
 * The files of the dashboard by path. `scripts/dashboard.mjs` replaces the built file of this module. A module, and not
 * a folder, because a bundle of an application then contains them.
 */
export interface DashboardFile {
  /** Compressed with gzip, as base64. */
  readonly gzip: string
  readonly type: string
}

export const files: Readonly<Record<string, DashboardFile>> = {}
