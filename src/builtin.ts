interface NodeProcess {
  readonly process?: { getBuiltinModule?: (id: string) => unknown }
}

/**
 * Returns the members of a module of Node. It is not imported, because the package must load in runtimes without
 * Node's modules: each member may be missing.
 */
export function builtin<Members extends object>(name: string): Partial<Members> {
  const { process } = globalThis as NodeProcess
  return process?.getBuiltinModule?.(name) ?? {}
}
