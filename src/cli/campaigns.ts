/** The commands of `perkline campaigns`. */
import { callAdmin } from './connection.ts'
import { type OutputOptions, plain, print } from './output.ts'

type Result = { id: string; status: string; message: string; createdAt: string; updatedAt: string }

/**
 * `perkline campaigns complete ID`: completes a campaign whose compensation was received. Without this command the
 * campaign is completed `COMPLETE_AFTER_DAYS` later.
 */
export async function completeCampaign(id: string, options: OutputOptions): Promise<void> {
  const result = await callAdmin<Result>({
    method: 'POST',
    path: `/campaigns/${encodeURIComponent(id)}/complete`,
    refusal: `The campaign ${plain(id)} was not completed`,
  })
  print(options, result, [plain(result.message)])
}
