export { administration, type Administration } from '../administration/administration.ts'
export type {
  AdministeredCollection,
  AdministrationOptions,
  AdministrationRoles,
} from '../administration/options.ts'
