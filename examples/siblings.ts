// Collections that refer to each other: their data first, then code that looks up both, with types.
import { anonymous, createService, defineCollection, error, memoryStorage } from 'rowgate'
import { integer, openAccess, text, withBehaviour } from 'rowgate'

const teams = defineCollection({
  key: 'teamId',
  fields: { teamId: integer(), name: text({ required: true }), captainId: integer() },
})

const players = defineCollection({
  key: 'playerId',
  fields: {
    playerId: integer(),
    name: text({ required: true }),
    teamId: integer({ required: true }),
    shirt: integer({ required: true, minimum: 1 }),
  },
})

const collections = {
  teams: withBehaviour(teams, {
    validations: [
      error('own-captain', {
        field: 'captainId',
        check: async ({ teamId, captainId }, { find }) => {
          const [captain] = await find(players, { playerId: captainId })
          if (captainId === null || captain?.teamId === teamId) return undefined
          return `${captain?.name ?? 'This player'} is not in the team.`
        },
      }),
    ],
  }),
  players: withBehaviour(players, {
    validations: [
      error('known-team', {
        field: 'teamId',
        check: async ({ teamId }, { find }) => {
          const [team] = await find(teams, { teamId })
          return team === undefined ? `There is no team ${teamId}.` : undefined
        },
      }),
      error('own-shirt', {
        field: 'shirt',
        check: async ({ playerId, teamId, shirt }, { find }) => {
          const wearers = await find(players, { teamId, shirt })
          const other = wearers.find((wearer) => wearer.playerId !== playerId)
          return other && `${other.name} has the shirt ${other.shirt}.`
        },
      }),
    ],
  }),
}

const service = createService({
  applications: { league: { collections } },
  storage: memoryStorage(),
  security: openAccess(),
})
const league = service.as(anonymous)

await league.collection('league', 'teams').insertMany([
  { teamId: 1, name: 'Rovers' },
  { teamId: 2, name: 'United' },
])
const saved = await league.collection('league', 'players').insertMany([
  { playerId: 1, name: 'Ada', teamId: 1, shirt: 9 },
  { playerId: 2, name: 'Bo', teamId: 1, shirt: 9 },
  { playerId: 3, name: 'Cy', teamId: 3, shirt: 1 },
])
for (const { index, message } of saved.validations) console.log(index, message)
await league
  .collection('league', 'players')
  .insert({ playerId: 1, name: 'Ada', teamId: 1, shirt: 9 })
const captain = await league.collection('league', 'teams').update(2, { captainId: 1 })
console.log(captain?.validations[0]?.message)
await service.close()
