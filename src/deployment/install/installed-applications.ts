import type { ApplicationDefinitions } from '../../definition/application.ts'
import { readState } from './installed-state.ts'
import { readRelease } from './release-folder.ts'

/**
 * The applications of the release that is installed in a folder, without code; none when nothing is
 * installed there. Throws an InstallError when the release is not as it was installed.
 *
 * ```ts
 * const applications = { ...own, ...installedApplications('installed') }
 * ```
 */
export function installedApplications(folder: string): ApplicationDefinitions {
  const state = readState(folder)
  return state === undefined ? {} : readRelease(folder, state.current).applications
}
