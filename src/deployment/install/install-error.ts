/** The error of an install or rollback that is not possible. The message says what to do. */
export class InstallError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'InstallError'
  }
}
