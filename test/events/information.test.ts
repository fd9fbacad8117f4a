import { expect } from 'vitest'
import { error, information, warning, type CollectionBehaviour } from '../../src/entries/index.ts'
import { describeOnStorages } from '../kit/stage.ts'
import { tasks, type TaskShape } from './tasks.ts'

const noted = { message: 'Noted.', severity: 'information' }
const note = ({ information: add }: { readonly information: (message: string) => void }): void => {
  add('Noted.')
}

describeOnStorages('a failed save lists the information that is known by then', (on) => {
  on('is listed with the errors of validations', async (open) => {
    const behaviour: CollectionBehaviour<TaskShape> = {
      validations: [
        information('noted', { check: () => 'Noted.' }),
        error('no', { check: () => 'No.' }),
      ],
    }
    const { ask } = open({ tasks: tasks(behaviour) })
    const { status, body } = await ask('POST', '/tasks', { id: 1, title: 'one' })
    expect(status).toBe(400)
    expect(body.validations).toEqual([{ message: 'No.', severity: 'error' }, noted])
  })

  on('is listed with a warning', async (open) => {
    const behaviour: CollectionBehaviour<TaskShape> = {
      validations: [
        information('noted', { check: () => 'Noted.' }),
        warning('ask', { check: () => 'Sure?' }),
      ],
    }
    const { ask } = open({ tasks: tasks(behaviour) })
    const { body } = await ask('POST', '/tasks', { id: 1, title: 'one' })
    expect(body.validations).toMatchObject([{ severity: 'warning' }, noted])
  })

  on('is listed with a unique violation of the write', async (open) => {
    const { ask } = open({ tasks: tasks({ events: { Insert: { before: note } } }) })
    await ask('POST', '/tasks', { id: 1, title: 'one' })
    const { status, body } = await ask('POST', '/tasks', { id: 1, title: 'two' })
    expect(status).toBe(400)
    expect(body.validations).toMatchObject([{ field: 'id', severity: 'error' }, noted])
  })

  on('is listed with a rejected delete', async (open) => {
    const before = (event: Parameters<typeof note>[0] & { error: (message: string) => void }) => {
      note(event)
      event.error('Kept.')
    }
    const { ask } = open({ tasks: tasks({ events: { Delete: { before } } }) })
    await ask('POST', '/tasks', { id: 1, title: 'one' })
    const { status, body } = await ask('DELETE', '/tasks/1')
    expect(status).toBe(400)
    expect(body.validations).toEqual([{ message: 'Kept.', severity: 'error' }, noted])
  })
})
