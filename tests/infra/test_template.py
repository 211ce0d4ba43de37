"""What template.yaml promises, read from its translation: rights, logs, alarms, deployment, keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.infra.intrinsics import Values


@pytest.fixture(scope="module")
def properties(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: resource.get("Properties", {}) for name, resource in template["Resources"].items()}


def of_type(template: dict[str, Any], type_name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, resource in template["Resources"].items():
        if resource["Type"] == type_name:
            yield name, resource["Properties"]


def test_each_function_has_a_role_of_its_own_that_writes_its_own_logs(
    template: dict[str, Any], properties: dict[str, dict[str, Any]]
) -> None:
    functions = dict(of_type(template, "AWS::Lambda::Function"))
    roles = [function["Role"]["Fn::GetAtt"][0] for function in functions.values()]
    assert len(set(roles)) == len(functions)
    for function, role in zip(functions.values(), roles, strict=True):
        assert "ManagedPolicyArns" not in properties[role]
        [policy] = properties[role]["Policies"]
        logs, traces = policy["PolicyDocument"]["Statement"]
        assert logs["Action"] == ["logs:CreateLogStream", "logs:PutLogEvents"]
        assert logs["Resource"] == {"Fn::GetAtt": [function["LoggingConfig"]["LogGroup"]["Ref"], "Arn"]}
        assert traces["Action"] == ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]


def test_model_is_published_with_an_alias_snapshots_and_tracing(
    template: dict[str, Any], properties: dict[str, dict[str, Any]]
) -> None:
    function = properties["DemoFunction"]
    assert function["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    assert function["TracingConfig"] == {"Mode": "Active"}
    assert function["LoggingConfig"]["LogFormat"] == "JSON"
    assert function["Runtime"] == "python3.13"
    alias = properties["DemoFunctionAliaslive"]
    assert (alias["Name"], alias["FunctionName"]) == ("live", {"Ref": "DemoFunction"})
    update = template["Resources"]["DemoFunctionAliaslive"]["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
    assert update["DeploymentGroupName"] == {"Ref": "DemoFunctionDeploymentGroup"}


def test_alarms_roll_a_bad_version_back(properties: dict[str, dict[str, Any]]) -> None:
    group = properties["DemoFunctionDeploymentGroup"]
    assert [alarm["Name"]["Ref"] for alarm in group["AlarmConfiguration"]["Alarms"]] == [
        "DemoNewVersionErrors",
        "DemoFailures",
    ]
    assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]
    dimensions = {each["Name"]: each["Value"] for each in properties["DemoNewVersionErrors"]["Dimensions"]}
    version = dimensions["ExecutedVersion"]["Fn::GetAtt"][0]
    assert properties["DemoFunctionAliaslive"]["FunctionVersion"]["Fn::GetAtt"][0] == version


def test_every_alarm_tells_the_topic_and_is_quiet_without_traffic(template: dict[str, Any]) -> None:
    alarms = dict(of_type(template, "AWS::CloudWatch::Alarm"))
    suffixes = ("Errors", "NewVersionErrors", "Failures", "Throttles", "Slow")
    assert set(alarms) == {"GatewayFailures", *(f"Demo{suffix}" for suffix in suffixes)}
    for alarm in alarms.values():
        assert alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}]
        assert alarm["TreatMissingData"] == "notBreaching"


def test_cloudwatch_may_use_the_key_of_the_topic(properties: dict[str, dict[str, Any]]) -> None:
    assert properties["AlarmTopic"]["KmsMasterKeyId"] == {"Ref": "AlarmKey"}
    grants = properties["AlarmKey"]["KeyPolicy"]["Statement"]
    assert {"Service": "cloudwatch.amazonaws.com"} in [grant["Principal"] for grant in grants]


def test_every_log_group_is_kept_for_a_time(template: dict[str, Any]) -> None:
    groups = dict(of_type(template, "AWS::Logs::LogGroup"))
    assert set(groups) == {"AccessLogs", "AuthorizerLogs", "DemoLogs"}
    assert all(group["RetentionInDays"] == {"Ref": "LogRetentionDays"} for group in groups.values())


def test_access_log_is_one_json_line_without_keys_queries_and_bodies(
    properties: dict[str, dict[str, Any]],
) -> None:
    line = properties["ApiStage"]["AccessLogSetting"]["Format"]
    assert "\n" not in line
    variables = set(json.loads(line).values())
    assert all(re.fullmatch(r"\$context\.[\w.]+", each) for each in variables)
    secret = {
        "$context.identity.apiKey",
        "$context.authorizer.usageIdentifierKey",
        "$context.authorizer.principalId",
    }
    assert variables & secret == set()
    assert "$context.identity.apiKeyId" in variables


def test_bodies_are_not_traced(properties: dict[str, dict[str, Any]]) -> None:
    [setting] = properties["ApiStage"]["MethodSettings"]
    assert (setting["ResourcePath"], setting["HttpMethod"]) == ("/*", "*")
    assert (setting["DataTraceEnabled"], setting.get("LoggingLevel", "OFF")) == (False, "OFF")


def test_nothing_is_compressed_unless_asked_for(template: dict[str, Any]) -> None:
    stored = template["Resources"]["Api"]["Properties"]
    assert "MinimumCompressionSize" not in Values(template).of(stored)
    asked = Values(template, {"CompressAboveBytes": "1024"}).of(stored)
    assert asked["MinimumCompressionSize"] == "1024"


@pytest.mark.parametrize(
    ("parameters", "held"),
    [
        ({}, {"ApiKeyA"}),
        ({"KeyB": "1"}, {"ApiKeyA", "ApiKeyB"}),
        ({"KeyA": "none", "KeyB": "1"}, {"ApiKeyB"}),
    ],
)
def test_slots_hold_keys_by_name(
    template: dict[str, Any], parameters: dict[str, str], held: set[str]
) -> None:
    values = Values(template, parameters)
    keys = dict(of_type(template, "AWS::ApiGateway::ApiKey"))
    members = dict(of_type(template, "AWS::ApiGateway::UsagePlanKey"))
    conditions = {name: template["Resources"][name]["Condition"] for name in {**keys, **members}}
    assert {name for name in keys if values.holds(conditions[name])} == held
    assert {members[name]["KeyId"]["Ref"] for name in members if values.holds(conditions[name])} == held


def test_another_name_makes_another_key(properties: dict[str, dict[str, Any]]) -> None:
    assert "${KeyA}" in properties["ApiKeyA"]["Name"]["Fn::Sub"]
    assert "${KeyB}" in properties["ApiKeyB"]["Name"]["Fn::Sub"]
    assert "Value" not in {**properties["ApiKeyA"], **properties["ApiKeyB"]}


def test_every_method_reaches_the_application(properties: dict[str, dict[str, Any]]) -> None:
    paths = properties["Api"]["Body"]["paths"]
    assert {path: list(item) for path, item in paths.items()} == {
        f"/demo{rest}": ["x-amazon-apigateway-any-method"] for rest in ("", "/{proxy+}", "/health", "/ping")
    }


def test_gateway_gives_up_before_the_function_does(properties: dict[str, dict[str, Any]]) -> None:
    seconds = properties["DemoFunction"]["Timeout"]
    for item in properties["Api"]["Body"]["paths"].values():
        [operation] = item.values()
        assert operation["x-amazon-apigateway-integration"]["timeoutInMillis"] == seconds * 1000 - 500


def test_dashboard_shows_what_the_handler_writes(properties: dict[str, dict[str, Any]]) -> None:
    board = json.loads(properties["Dashboard"]["DashboardBody"]["Fn::Sub"])
    metrics = [metric for widget in board["widgets"] for metric in widget["properties"]["metrics"]]
    ours = {metric[1] for metric in metrics if metric[0] == "RenderCore"}
    assert ours == {"PromptTokens", "RenderMilliseconds", "ColdStart", "Requests", "Errors4xx", "Errors5xx"}
    assert all(metric[2] == "FunctionName" for metric in metrics if metric[0] == "RenderCore")
    assert all(metric[3] == "${AWS::StackName}-demo" for metric in metrics if metric[0] == "RenderCore")


def test_a_first_api_of_the_account_finds_the_role_for_its_logs(template: dict[str, Any]) -> None:
    variables = template["Resources"]["ApiStage"]["Properties"]["Variables"]
    assert Values(template).of(variables) == {"GatewayLogging": "GatewayLogging"}
    assert Values(template, {"ManageGatewayLogging": "false"}).of(variables) == {
        "GatewayLogging": "elsewhere"
    }
    assert template["Resources"]["GatewayLogging"]["DeletionPolicy"] == "Retain"
