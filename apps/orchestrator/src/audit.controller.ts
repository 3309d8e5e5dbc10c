import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database } from '#libs/database';
import { listActs, type AuditRecord } from '#libs/tenancy';
import { page, pageQuery, pageSchema, Sequence } from './page.js';

const AuditAnswer = z.strictObject({
  id: z.int(),
  recordedAt: z.iso.datetime(),
  actor: z.string().meta({ examples: ['admin'] }),
  action: z.string().meta({ examples: ['halt.create'] }),
  profileId: z.guid().nullable(),
  subject: z.string().describe('what was acted upon'),
  detail: z.record(z.string(), z.unknown()),
});
const AuditPage = pageSchema(AuditAnswer);
const AuditQuery = pageQuery(Sequence).extend({ profileId: z.guid().optional() });

@ApiTags('audit')
@ApiBearerAuth()
@Controller('api/audit')
export class AuditController {
  constructor(private readonly database: Database) {}

  @Get()
  @ApiOperation({ summary: 'Who did what to what, oldest first; nothing is ever changed or removed' })
  @ApiOkResponse({ standardSchema: AuditPage })
  list(
    @Query({ schema: AuditQuery }) { after, limit, profileId }: z.infer<typeof AuditQuery>,
  ): Promise<z.infer<typeof AuditPage>> {
    const from = after === undefined ? undefined : BigInt(after);
    return this.database.transaction((tx) =>
      page(limit, (count) => listActs(tx, { after: from, limit: count, profileId }), {
        cursor: ({ id }) => String(id),
        item: auditAnswer,
      }),
    );
  }
}

function auditAnswer({
  id,
  recordedAt,
  actor,
  action,
  profileId,
  subject,
  detail,
}: AuditRecord): z.infer<typeof AuditAnswer> {
  return {
    id: Number(id),
    recordedAt: recordedAt.toISOString(),
    actor,
    action,
    profileId: profileId ?? null,
    subject,
    detail,
  };
}
