import { expect } from 'vitest'
import {
  defineCollection,
  integer,
  principal,
  text,
  type CollectionAccess,
  type CollectionBehaviour,
  type CollectionDefinition,
  type CollectionShape,
} from '../../src/entries/index.ts'
import type { Stage } from '../kit/stage.ts'

/** A collection of tasks, as most cases need it. */
export const taskFields = {
  id: integer(),
  title: text({ maxLength: 20, required: true }),
  state: text({ readOnly: true, default: 'new' }),
  size: integer(),
} as const

/** The shape of {@link taskFields}. */
export interface TaskShape {
  readonly fields: typeof taskFields
  readonly key: 'id'
}

/** Tasks with rules and handlers. */
export function tasks(behaviour: CollectionBehaviour<TaskShape> = {}): CollectionDefinition {
  const data = { key: 'id', fields: { ...taskFields } } as const
  return defineCollection(data, behaviour)
}

/** The user who saves {@link threeTasks}. */
export const maria = principal('maria')

/** The values of three tasks. */
export const threeTasks = [
  { id: 1, title: 'one', size: 1 },
  { id: 2, title: 'two', size: 1 },
  { id: 3, title: 'three', size: 2 },
]

/** Returns the events of the tasks in process. */
export function tasksOf({ service }: Stage, as = maria): CollectionAccess<TaskShape> {
  return service.as(as).collection('app', 'tasks') as unknown as CollectionAccess<TaskShape>
}

/** Returns the keys of the stored tasks. */
export async function idsIn({ rows }: Stage): Promise<readonly unknown[]> {
  return (await rows('tasks')).map(({ id }) => id)
}

/** A log that handlers write to. */
export const log = defineCollection({ key: 'id', fields: { id: integer(), line: text() } })

/** A definition whose types do not matter to a case. */
export function loose(definition: CollectionShape): CollectionDefinition {
  return definition
}

/** Checks that an Insert responds 500 with the fixed message, and stores nothing. */
export async function expectFault(stage: Stage): Promise<void> {
  const { status, body } = await stage.ask('POST', '/tasks', { id: 1, title: 'one' })
  expect(status).toBe(500)
  expect(body).toEqual({
    message: 'The request could not be served because of an internal error.',
    validations: [],
    status: 500,
  })
  expect(await stage.rows('tasks')).toEqual([])
}
