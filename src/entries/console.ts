export { adminConsole, type AdminConsoleOptions } from '../console/admin-console.ts'
