import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Database } from '#libs/database';
import { CallerOf } from '#libs/http';
import { findLimits, putLimits } from '#libs/ledger';
import { actorOf, asPrincipal, recordAct, type Principal } from '#libs/tenancy';
import { ApiProblems } from './api-problems.js';
import { limitsAnswer, LimitsAnswer, LimitsBody, limitsOf } from './profile-limits.js';
import { getProfile } from './profile-problems.js';

@ApiTags('profiles')
@ApiBearerAuth()
@ApiProblems({ 404: '`unknown_profile`: there is no such profile, or it is not yours' })
@Controller('api/profiles/:id/limits')
export class ProfileLimitsController {
  constructor(private readonly database: Database) {}

  @Get()
  @ApiOperation({ summary: 'What a profile may risk; null is no limit' })
  @ApiOkResponse({ standardSchema: LimitsAnswer })
  read(@CallerOf() principal: Principal, @Param('id') id: string): Promise<LimitsAnswer> {
    return asPrincipal(this.database, principal, async (tx) => {
      const profile = await getProfile(tx, id);
      return limitsAnswer(await findLimits(tx, profile.id));
    });
  }

  @Put()
  @ApiOperation({ summary: 'Replaces all limits of a profile; the next order is judged by them' })
  @ApiOkResponse({ standardSchema: LimitsAnswer })
  @ApiProblems({ 400: 'a field is unknown or unreadable: "errors" names each' })
  put(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Body({ schema: LimitsBody }) body: LimitsBody,
  ): Promise<LimitsAnswer> {
    return asPrincipal(this.database, principal, async (tx) => {
      const profile = await getProfile(tx, id);
      const before = limitsAnswer(await findLimits(tx, profile.id));
      const after = limitsAnswer(await putLimits(tx, profile.id, limitsOf(body)));
      await recordAct(tx, {
        actor: actorOf(principal),
        action: 'limits.put',
        profileId: profile.id,
        subject: profile.id,
        detail: { before, after },
      });
      return after;
    });
  }
}
