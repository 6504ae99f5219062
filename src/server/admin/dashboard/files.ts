/**
 * The files of the dashboard, compressed, by their path. `scripts/dashboard.mjs` replaces the built file of this module.
 * They are in a module and not in a folder, so that a bundle of an application contains them too.
 */
export interface DashboardFile {
  /** Compressed with gzip, as base64. */
  readonly gzip: string
  readonly type: string
}

export const files: Readonly<Record<string, DashboardFile>> = {}
